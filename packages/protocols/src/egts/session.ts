import type { Position, TerminalId } from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import { type Entry, type Inbound, LET_IN_ALL, type LetIn, type SessionOptions } from '../protocol.ts';
import { eachSubrecord, type Identity, readIdentity, readPassword, readTelemetry, SUBRECORD } from './subrecords.ts';
import {
  buildPacket,
  buildRecord,
  buildSubrecord,
  type EgtsRecord,
  MAX_FRAME_BYTES,
  OwnNumbers,
  PACKET,
  type Packet,
  RESULT,
  readPacket,
  readRecords,
  SERVICE,
} from './transport.ts';

const NONE: ReadonlySet<number> = new Set();

/** Identity and password from the authorization subrecords of a packet. */
interface Introduction {
  identity: Identity | null;
  isDispatcher: boolean;
  /** The password sent by a platform. */
  password: string | null;
}

/** The records of a packet, sorted into accepted positions and refused records. */
interface Sorted {
  positions: Map<TerminalId | null, Position[]>;
  /** The numbers of the refused records. */
  refused: ReadonlySet<number>;
}

/**
 * EGTS, the Russian standard for ERA-GLONASS and transport monitoring: packets of records of subrecords. A terminal
 * identifies itself by a record of the authorization service. Without such a record, or where a platform identifies
 * itself as a dispatcher, each record names its terminal by its object id. A packet is answered once all of its records
 * are durable; records of refused terminals get a result of their own.
 */
export class EgtsSession extends FramedSession {
  readonly #letIn: LetIn;
  #terminalId: TerminalId | null = null;
  /** The object id that the identified terminal uses in its records. */
  #ownObjectId: number | null = null;
  #password: string | null = null;
  readonly #numbers = new OwnNumbers();

  constructor({ letIn = LET_IN_ALL }: SessionOptions = {}) {
    super(MAX_FRAME_BYTES);
    this.#letIn = letIn;
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    const packet = readPacket(bytes, from);
    if (packet === null) return 0;
    if ('reason' in packet) return this.refuse(out, packet.reason, packet.detail);
    if (packet.type === PACKET.response) return packet.bytes;
    const records = this.#recordsOf(bytes, packet);
    if (typeof records === 'string') return this.refuse(out, 'bad-content', records);

    const introduction: Introduction = { identity: null, isDispatcher: false, password: null };
    const read: [EgtsRecord, Position[]][] = [];
    for (const record of records) {
      const positions: Position[] = [];
      const wrong =
        record.service === SERVICE.teledata
          ? readTelemetry(bytes, record, positions)
          : readIntroduction(bytes, record, introduction);
      if (wrong !== null) return this.refuse(out, 'bad-content', wrong);
      read.push([record, positions]);
    }
    this.#password = introduction.password ?? this.#password;
    return this.#answer(packet, introduction, read, out) ? packet.bytes : 0;
  }

  #recordsOf(bytes: Buffer, { type, from, to }: Packet): EgtsRecord[] | string {
    if (type === PACKET.data) return readRecords(bytes, from, to);
    if (type !== PACKET.signedData) return `a packet of type ${type}`;
    if (to - from < 2) return 'a signature is cut off';
    const signatureBytes = bytes.readUInt16LE(from);
    return from + 2 + signatureBytes > to
      ? 'a signature is cut off'
      : readRecords(bytes, from + 2 + signatureBytes, to);
  }

  /** @returns whether the session continues */
  #answer(
    packet: Packet,
    { identity, isDispatcher, password }: Introduction,
    read: readonly [EgtsRecord, Position[]][],
    out: Inbound[],
  ): boolean {
    const records = read.map(([record]) => record);
    if (identity !== null) {
      const ids = idsOf(identity, records);
      if (this.#terminalId === null) {
        const [terminalId, ...otherIds] = ids;
        if (terminalId === undefined) {
          this.refuse(out, 'not-identified', 'an identity without a number');
          return false;
        }
        this.#terminalId = terminalId;
        const isAlone = read.every(([, positions]) => positions.length === 0);
        out.push({
          type: 'identify',
          terminalId,
          ...(otherIds.length > 0 && { otherIds }),
          accept: isAlone ? Buffer.concat([this.#response(packet.id, records), this.#result(RESULT.ok)]) : null,
          reject: this.#result(RESULT.unknownId),
        });
        if (isAlone) return true;
      } else if (!ids.includes(this.#terminalId)) {
        this.refuse(out, 'bad-content', 'a second identity');
        return false;
      }
    }
    const sorted = this.#sort(read, out);
    if (sorted === null) return false;
    const introduces = identity !== null || isDispatcher || password !== null;
    const response = this.#response(packet.id, records, sorted.refused);
    const ack = introduces ? Buffer.concat([response, this.#result(RESULT.ok)]) : response;
    const lists = [...sorted.positions];
    for (const [index, [terminalId, positions]] of lists.entries())
      out.push({
        type: 'positions',
        positions,
        // Attached to the last list, so that it is sent once all lists before it are durable.
        ack: index === lists.length - 1 ? ack : null,
        ...(terminalId !== null && { terminalId }),
      });
    if (lists.length > 0) return true;
    if (this.#terminalId === null) out.push({ type: 'reply', bytes: ack });
    else out.push({ type: 'positions', positions: [], ack });
    return true;
  }

  /** Groups the positions by terminal. @returns null where the session ended */
  #sort(read: readonly [EgtsRecord, Position[]][], out: Inbound[]): Sorted | null {
    const positions: Sorted['positions'] = new Map();
    const refused = new Set<number>();
    const entries = new Map<number, Entry>();
    for (const [record, found] of read) {
      if (record.service !== SERVICE.teledata) continue;
      const entry = this.#entryOf(record, entries);
      if (entry === 'nobody') {
        this.refuse(out, 'not-identified', 'a record that does not say of which terminal it is');
        return null;
      }
      if (entry !== 'own' && entry.type === 'blocked') {
        this.refuse(out, 'address-blocked', entry.detail);
        return null;
      }
      if (entry !== 'own' && entry.type === 'refused') {
        refused.add(record.number);
        continue;
      }
      const terminalId = entry === 'own' ? null : entry.terminalId;
      const before = positions.get(terminalId);
      if (before !== undefined) before.push(...found);
      else if (found.length > 0) positions.set(terminalId, found);
    }
    return { positions, refused };
  }

  /** Decides whose record it is: the identified terminal's own, or that of another terminal by its object id. */
  #entryOf({ objectId }: EgtsRecord, entries: Map<number, Entry>): Entry | 'own' | 'nobody' {
    // Object id 0 means that none is given.
    const other = objectId || null;
    if (this.#terminalId !== null) {
      this.#ownObjectId ??= other;
      if (other === null || other === this.#ownObjectId) return 'own';
    }
    if (other === null) return 'nobody';
    const entry = entries.get(other) ?? this.#letIn([`${other}` as TerminalId], this.#password);
    entries.set(other, entry);
    return entry;
  }

  /** Confirms a packet and each of its records. */
  #response(packetId: number, records: readonly EgtsRecord[], refused: ReadonlySet<number> = NONE): Buffer {
    const head = Buffer.alloc(3);
    head.writeUInt16LE(packetId, 0);
    head[2] = RESULT.ok;
    const confirmations = records.map(({ number, service }) => {
      const content = Buffer.alloc(3);
      content.writeUInt16LE(number, 0);
      content[2] = refused.has(number) ? RESULT.unknownObject : RESULT.ok;
      return buildRecord(this.#numbers.nextRecord(), service, buildSubrecord(SUBRECORD.response, content));
    });
    return buildPacket(PACKET.response, this.#numbers.nextPacket(), Buffer.concat([head, ...confirmations]));
  }

  /** The result of an identification. */
  #result(code: number): Buffer {
    const subrecord = buildSubrecord(SUBRECORD.result, Buffer.of(code));
    return buildPacket(
      PACKET.data,
      this.#numbers.nextPacket(),
      buildRecord(this.#numbers.nextRecord(), SERVICE.auth, subrecord),
    );
  }
}

/** Reads the identity and the password of an authorization record. @returns what is wrong, or null */
function readIntroduction(bytes: Buffer, record: EgtsRecord, introduction: Introduction): string | null {
  return eachSubrecord(bytes, record, (type, from, to) => {
    if (type === SUBRECORD.dispatcher) introduction.isDispatcher = true;
    if (type === SUBRECORD.password) introduction.password = readPassword(bytes, from, to);
    if (type !== SUBRECORD.identity) return null;
    const identity = readIdentity(bytes, from, to);
    if (typeof identity === 'string') return identity;
    introduction.identity = identity;
    return null;
  });
}

/**
 * Ids to look up, the IMEI first. A vehicle may also be registered with the terminal's number or with the object id of
 * the records in the packet.
 */
function idsOf(identity: Identity, records: readonly EgtsRecord[]): TerminalId[] {
  const objectId = records.find((record) => record.objectId !== null)?.objectId ?? 0;
  const numbers = [identity.number, objectId].filter((number) => number !== 0).map((number) => `${number}`);
  return [...new Set([...(identity.imei ? [identity.imei] : []), ...(numbers as TerminalId[])])];
}
