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

/** Packets without a response, at most. */
const MAX_OUTSTANDING = 256;
const MAX_RECORDS = 50;

/** A position of a vehicle, by the number that the receiving platform knows the vehicle by. */
export interface ForwardedPosition {
  /** 1 to 4,294,967,295. */
  objectId: number;
  position: Position;
}

/** What a forwarding platform learns from the bytes that it got. */
export type DispatcherReply =
  /** The receiving platform accepted the login: data may be sent. */
  | { type: 'welcome' }
  /** It accepted the record, or refused it with a result code of the standard. */
  | { type: 'record'; number: number; isAccepted: boolean; result: number }
  /** The conversation can't go on. */
  | { type: 'refused'; detail: string };

/**
 * The sending side of a platform that forwards its vehicles by EGTS, in one connection. Each position is a record; the
 * receiver confirms records one by one. Numbers of records come again after 65,536 of them, and at most 256 packets may
 * be without a response, so a number is never outstanding twice.
 */
export class EgtsDispatcher {
  readonly #dispatcherId: number;
  readonly #login: { user: string; password: string } | null;
  readonly #numbers = new OwnNumbers();
  #received: Buffer = Buffer.alloc(0);
  /** The records of each packet that has no response yet. */
  readonly #outstanding = new Map<number, number[]>();

  /** @param login user and password that the receiver gave the platform, where it did */
  constructor(dispatcherId: number, login: { user: string; password: string } | null = null) {
    this.#dispatcherId = dispatcherId;
    this.#login = login;
  }

  /** What the platform says on connecting. Data follows the answer `welcome`. */
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

  /** May another packet be sent? */
  get isReady(): boolean {
    return this.#outstanding.size < MAX_OUTSTANDING;
  }

  /**
   * One packet, with the number of the record of each position.
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

  /** Bytes from the receiving platform, in any split. */
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

  /** A response refuses a packet as a whole, or holds the results of its records. Others are accepted with it. */
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

/** The results of records, by their numbers. */
function resultsOf(bytes: Buffer, from: number, to: number): Map<number, number> {
  const results = new Map<number, number>();
  const records = readRecords(bytes, from, to);
  for (const record of typeof records === 'string' ? [] : records)
    if (bytes[record.from] === SUBRECORD.response && record.to - record.from >= 6)
      results.set(bytes.readUInt16LE(record.from + 3), bytes[record.from + 5] as number);
  return results;
}
