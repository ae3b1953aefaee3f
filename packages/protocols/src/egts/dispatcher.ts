import type { Position } from '@outrider/domain';
import { encodeTelemetry } from './encode.ts';
import { resultOf } from './simulator.ts';
import { SUBRECORD } from './subrecords.ts';
import {
  buildPacket,
  buildRecord,
  buildSubrecord,
  MAX_FRAME_BYTES,
  OwnNumbers,
  PACKET,
  RESULT,
  readPacket,
  readRecords,
  SERVICE,
} from './transport.ts';

/** Maximum number of packets without a response. */
const MAX_OUTSTANDING = 256;
const MAX_RECORDS = 50;

/** A position of a vehicle, with the number that identifies the vehicle on the receiving platform. */
export interface ForwardedPosition {
  /** 1 to 4,294,967,295. */
  objectId: number;
  position: Position;
}

/** An event that the forwarding platform reads from the received bytes. */
export type DispatcherReply =
  /** The receiving platform accepted the login: data may be sent. */
  | { type: 'welcome' }
  /** The receiving platform accepted the record, or refused it with a result code of the standard. */
  | { type: 'record'; number: number; isAccepted: boolean; result: number }
  /** The session cannot continue. */
  | { type: 'refused'; detail: string };

/**
 * The sending side of a platform that forwards its vehicles by EGTS over one connection. Each position is a record; the
 * receiver confirms records one by one. Record numbers repeat after 65,536 records. At most 256 packets may be without
 * a response, so no number is outstanding twice.
 */
export class EgtsDispatcher {
  readonly #dispatcherId: number;
  readonly #login: { user: string; password: string } | null;
  readonly #numbers = new OwnNumbers();
  #received: Buffer = Buffer.alloc(0);
  /** The records of each packet that has no response yet. */
  readonly #outstanding = new Map<number, number[]>();

  /** @param login user and password that the receiver issued to the platform; null where it issued none */
  constructor(dispatcherId: number, login: { user: string; password: string } | null = null) {
    this.#dispatcherId = dispatcherId;
    this.#login = login;
  }

  /** The login packet, sent on connecting. Data may be sent after the reply `welcome`. */
  hello(): Buffer {
    const identity = Buffer.alloc(5);
    identity.writeUInt32LE(this.#dispatcherId, 1);
    const subrecords = [buildSubrecord(SUBRECORD.dispatcher, identity)];
    if (this.#login !== null) {
      const { user, password } = this.#login;
      subrecords.push(buildSubrecord(SUBRECORD.password, Buffer.from(`${user}\0${password}\0`, 'latin1')));
    }
    const record = buildRecord(this.#numbers.nextRecord(), SERVICE.auth, Buffer.concat(subrecords));
    return buildPacket(PACKET.data, this.#numbers.nextPacket(), record);
  }

  /** Whether another packet may be sent. */
  get isReady(): boolean {
    return this.#outstanding.size < MAX_OUTSTANDING;
  }

  /**
   * Encodes one packet; `numbers` holds the record number of each position.
   *
   * @throws {RangeError} with more than 50 positions, a wrong id, or too many packets without a response
   */
  encode(positions: readonly ForwardedPosition[]): { bytes: Buffer; numbers: number[] } {
    if (positions.length > MAX_RECORDS) throw new RangeError(`${positions.length} positions in a packet`);
    if (!this.isReady) throw new RangeError(`${MAX_OUTSTANDING} packets without a response`);
    const numbers: number[] = [];
    const records = positions.map(({ objectId, position }) => {
      if (!(Number.isInteger(objectId) && objectId >= 1 && objectId <= 0xffffffff))
        throw new RangeError(`an object id is 1 to 4294967295, not ${objectId}`);
      const number = this.#numbers.nextRecord();
      numbers.push(number);
      return buildRecord(number, SERVICE.teledata, encodeTelemetry(position), objectId);
    });
    const packetId = this.#numbers.nextPacket();
    this.#outstanding.set(packetId, numbers);
    return { bytes: buildPacket(PACKET.data, packetId, Buffer.concat(records)), numbers: [...numbers] };
  }

  /** Takes bytes from the receiving platform, split at any point. */
  receive(chunk: Buffer): DispatcherReply[] {
    const bytes = Buffer.concat([this.#received, chunk]);
    const replies: DispatcherReply[] = [];
    let from = 0;
    while (from < bytes.length) {
      const packet = readPacket(bytes, from);
      if (packet === null) break;
      if ('reason' in packet) return [...replies, { type: 'refused', detail: packet.detail }];
      from += packet.bytes;
      if (packet.type === PACKET.response) this.#readResponse(bytes, packet.from, packet.to, replies);
      else {
        const result = resultOf(bytes, packet.from, packet.to);
        if (result === RESULT.ok) replies.push({ type: 'welcome' });
        else if (result !== null) replies.push({ type: 'refused', detail: `result ${result}` });
        else this.#readConfirmations(bytes, packet.from, packet.to, replies);
      }
    }
    this.#received = Buffer.from(bytes.subarray(from));
    if (this.#received.length > MAX_FRAME_BYTES)
      return [...replies, { type: 'refused', detail: 'a packet without end' }];
    return replies;
  }

  /**
   * Reads a response: it refuses the whole packet, or holds results of records. Records without a result are accepted.
   */
  #readResponse(bytes: Buffer, from: number, to: number, replies: DispatcherReply[]): void {
    if (to - from < 3) return;
    const packetId = bytes.readUInt16LE(from);
    const result = bytes[from + 2] as number;
    const numbers = this.#outstanding.get(packetId);
    if (numbers === undefined) return;
    this.#outstanding.delete(packetId);
    const results = resultsOf(bytes, from + 3, to);
    for (const number of numbers) {
      const own = result === RESULT.ok ? (results.get(number) ?? RESULT.ok) : result;
      replies.push({ type: 'record', number, isAccepted: own === RESULT.ok, result: own });
    }
  }

  /** Some platforms confirm records by packets of their own, before the response. */
  #readConfirmations(bytes: Buffer, from: number, to: number, replies: DispatcherReply[]): void {
    for (const [number, result] of resultsOf(bytes, from, to)) {
      for (const [packetId, numbers] of this.#outstanding) {
        const index = numbers.indexOf(number);
        if (index < 0) continue;
        numbers.splice(index, 1);
        if (numbers.length === 0) this.#outstanding.delete(packetId);
        replies.push({ type: 'record', number, isAccepted: result === RESULT.ok, result });
        break;
      }
    }
  }
}

/** Result code of each record, by record number. */
function resultsOf(bytes: Buffer, from: number, to: number): Map<number, number> {
  const results = new Map<number, number>();
  const records = readRecords(bytes, from, to);
  for (const record of typeof records === 'string' ? [] : records)
    if (bytes[record.from] === SUBRECORD.response && record.to - record.from >= 6)
      results.set(bytes.readUInt16LE(record.from + 3), bytes[record.from + 5] as number);
  return results;
}
