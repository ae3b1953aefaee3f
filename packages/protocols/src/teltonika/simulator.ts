import type { AttributeValue, Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { crc16Arc } from '../crc16.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { IO, IO_OF_ALARM, ioName, raisesAlarm } from './io.ts';
import { CODEC_12, ENVELOPE_BYTES, encodeMessage, MESSAGE } from './messages.ts';
import { elementsOf } from './models.ts';
import { CODEC_8, CODEC_8_EXTENDED, CODEC_16, RECORD_CODECS, type RecordCodec } from './records.ts';
import { MAX_FRAME_BYTES } from './session.ts';

/** Keeps an ordinary packet within 1280 bytes, the maximum in the wiki. */
const MAX_POSITIONS = 20;
/** Minimum number of satellites for a fix with an altitude. */
const SATELLITES_OF_A_FIX = 4;

/**
 * A terminal that speaks Codec 8. What the codec can't carry: fractions of km/h; that speed, course or altitude are
 * unknown (0 is sent); that a valid fix has no known count of satellites (4 is sent: none would make it invalid), or
 * that one that is not valid had some (0 is sent); several kinds of harsh driving at once; the alarms `low-battery`,
 * `tamper` and `other`; attributes other than `eventIo` and whole `io<id>` with an id below 256.
 *
 * @throws {TypeError} when the terminal's id is not 5 to 20 digits
 */
export const createTeltonikaSimulator: CreateSimulator = (terminalId) => new TeltonikaSimulator(terminalId, CODEC_8);

/**
 * A terminal that speaks Codec 8 Extended, which carries `io<id>` with ids up to 65,535, and those of variable length
 * as hex.
 */
export const createTeltonikaExtendedSimulator: CreateSimulator = (terminalId) =>
  new TeltonikaSimulator(terminalId, CODEC_8_EXTENDED);

/**
 * A terminal that speaks Codec 16, which carries `io<id>` with ids up to 65,535 and `generationType` (default:
 * periodical).
 */
export const createTeltonika16Simulator: CreateSimulator = (terminalId) => new TeltonikaSimulator(terminalId, CODEC_16);

const PERIODICAL = 7;

class TeltonikaSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #terminalId: TerminalId;
  readonly #codec: number;
  readonly #writer = new ByteWriter();
  #welcomed = false;
  /** Number of positions of each packet without an acknowledgement. */
  #unacknowledged: number[] = [];
  #received: number[] = [];
  /** Whether the bytes being received are a message of the server. */
  #isPacket = false;

  constructor(terminalId: TerminalId, codec: number) {
    if (!/^\d{5,20}$/.test(terminalId)) throw new TypeError(`a Teltonika terminal's id is digits, not ${terminalId}`);
    this.#terminalId = terminalId;
    this.#codec = codec;
  }

  hello(): Buffer {
    return this.#writer.clear().u16be(this.#terminalId.length).append(Buffer.from(this.#terminalId)).toBuffer();
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const out = this.#writer.clear().u32be(0).u32be(0);
    out.u8(this.#codec).u8(positions.length);
    const codec = RECORD_CODECS[this.#codec] as RecordCodec;
    for (const position of positions) writeRecord(out, position, codec);
    out.u8(positions.length);
    const end = out.length;
    out.u32be(crc16Arc(out.view(), 8, end));
    const packet = out.toBuffer();
    packet.writeUInt32BE(end - 8, 4);
    if (packet.length > MAX_FRAME_BYTES) throw new RangeError(`a packet of ${packet.length} bytes`);
    this.#unacknowledged.push(positions.length);
    return packet;
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const replies: SimulatorReply[] = [];
    for (const [nth, byte] of chunk.entries()) {
      if (!this.#welcomed) {
        this.#welcomed = byte === 1;
        replies.push(this.#welcomed ? { type: 'welcome' } : { type: 'refused', detail: 'the IMEI was not accepted' });
        continue;
      }
      this.#received.push(byte);
      if (this.#received.length < 4) continue;
      // Four zeros acknowledge no records, unless something follows them: then they begin a message.
      if (this.#received.every((part) => part === 0) && nth + 1 < chunk.length) this.#isPacket = true;
      if (this.#isPacket) {
        const command = this.#takePacket();
        if (command !== null) replies.push(command);
        continue;
      }
      const taken = this.#received.reduce((sum, part) => sum * 256 + part, 0);
      this.#received = [];
      const sent = this.#unacknowledged.shift();
      replies.push(
        taken === sent
          ? { type: 'ack' }
          : { type: 'refused', detail: `${taken} records taken of ${sent ?? 'none'} sent` },
      );
    }
    return replies;
  }

  /** @returns the command, once it is complete */
  #takePacket(): SimulatorReply | null {
    const bytes = Buffer.from(this.#received);
    if (bytes.length < 8 || bytes.length < bytes.readUInt32BE(4) + ENVELOPE_BYTES) return null;
    this.#received = [];
    this.#isPacket = false;
    const text = bytes.toString('latin1', 15, 15 + bytes.readUInt32BE(11));
    const answer = (isDone: boolean) => encodeMessage(CODEC_12, MESSAGE.answer, isDone ? 'OK' : 'WARNING: not done');
    return { type: 'command', text, answer };
  }
}

type Elements = [id: number, value: number | bigint][];

function writeRecord(out: ByteWriter, position: Position, codec: RecordCodec): void {
  const { valid, satellites, courseDeg, attributes } = position;
  const sent = !valid
    ? 0
    : satellites !== null && satellites > 0
      ? clampRound(satellites, 1, 255)
      : SATELLITES_OF_A_FIX;
  out
    .u64be(clampRound(position.fixTimeMs, 0, 2 ** 43 - 1))
    .u8(0)
    .i32be(clampRound(position.longitude * 1e7, -1_800_000_000, 1_800_000_000))
    .i32be(clampRound(position.latitude * 1e7, -900_000_000, 900_000_000))
    .i16be(clampRound(position.altitudeM ?? 0, -32768, 32767))
    .u16be(clampRound(courseDeg ?? 0, 0, 360) % 360)
    .u8(sent)
    .u16be(clampRound(position.speedKmh ?? 0, 0, 65535));

  const byWidth: Record<1 | 2 | 4 | 8, Elements> = { 1: [], 2: [], 4: [], 8: [] };
  const ofAnyLength: [id: number, bytes: Buffer][] = [];
  const { idBytes, countBytes, hasGeneration, hasAnyLength } = codec;
  const idLimit = idBytes === 2 ? 65535 : 255;
  const countLimit = countBytes === 2 ? 65535 : 255;
  let eventId = 0;

  if (position.ignition !== null) byWidth[1].push([IO.ignition, position.ignition ? 1 : 0]);
  if (position.supplyV !== null) {
    const millivolts = clampRound(position.supplyV * 1000, 0, 0xffffffff);
    if (millivolts <= 65535) byWidth[2].push([IO.supply, millivolts]);
    else if (idBytes === 2) byWidth[4].push([IO.supplyWide, millivolts]);
  }
  if (position.fuelL !== null) byWidth[2].push([IO.fuel, clampRound(position.fuelL * 10, 0, 65535)]);
  if (position.odometerM !== null) byWidth[4].push([IO.odometer, clampRound(position.odometerM, 0, 0xffffffff)]);

  const raised = new Set<number>();
  for (const alarm of position.alarms) {
    const io = IO_OF_ALARM[alarm];
    if (io === undefined || raised.has(io.id)) continue;
    raised.add(io.id);
    const reported = position.attributes?.[ioName(io.id)];
    const value = io.id === IO.overspeed && isByte(reported) ? reported : io.value;
    byWidth[1].push([io.id, value]);
    // A record names one element as its event; overspeeding is an alarm only as the event.
    if (eventId === 0 || io.id === IO.overspeed) eventId = io.id;
  }

  if (attributes !== null) {
    const { eventIo } = attributes;
    if (eventId === 0 && typeof eventIo === 'number' && eventIo > 0 && eventIo <= idLimit)
      eventId = Math.trunc(eventIo);
    for (const [name, value] of Object.entries(attributes)) {
      const id = /^io(\d{1,5})$/.test(name) ? Number(name.slice(2)) : Number.NaN;
      if (!(id <= idLimit) || raisesAlarm(id)) continue;
      if (typeof value === 'number') pushNumber(byWidth, id, value);
      else if (typeof value === 'string') {
        if (/^\d{16,20}$/.test(value) && BigInt(value) < 2n ** 64n) byWidth[8].push([id, BigInt(value)]);
        else if (hasAnyLength && id === IO.vin) ofAnyLength.push([id, Buffer.from(value, 'latin1')]);
        else if (hasAnyLength && /^([0-9a-f]{2}){0,255}$/.test(value))
          ofAnyLength.push([id, Buffer.from(value, 'hex')]);
      }
    }
  }

  const writeId = (value: number) => (idBytes === 2 ? out.u16be(value) : out.u8(value));
  const writeCount = (value: number) => (countBytes === 2 ? out.u16be(value) : out.u8(value));
  const total = WIDTHS.reduce((sum, width) => sum + byWidth[width].length, ofAnyLength.length);
  writeId(eventId);
  if (hasGeneration) {
    const generation = attributes?.generationType;
    out.u8(isByte(generation) ? generation : PERIODICAL);
  }
  writeCount(Math.min(countLimit, total));
  for (const width of WIDTHS) {
    const elements = byWidth[width].slice(0, countLimit);
    writeCount(elements.length);
    for (const [id, value] of elements) {
      writeId(id);
      if (width === 1) out.u8(Number(value));
      else if (width === 2) out.u16be(Number(value));
      else if (width === 4) out.u32be(Number(value));
      else out.u64be(value);
    }
  }
  if (!hasAnyLength) return;
  out.u16be(ofAnyLength.length);
  for (const [id, bytes] of ofAnyLength) out.u16be(id).u16be(bytes.length).append(bytes);
}

/** Writes a number with the width that FMB models use for the element, or else with the width that it needs. */
function pushNumber(byWidth: Record<1 | 2 | 4 | 8, Elements>, id: number, value: number): void {
  if (!Number.isSafeInteger(value)) return;
  const known = WIDTHS.filter((_, nth) => FMB_ELEMENTS.of(id, nth) !== null);
  const wider = WIDTHS.filter((width) => width > (known.at(-1) ?? 0));
  for (const width of [...known, ...wider]) {
    const limit = 2 ** (8 * width);
    const isSigned = FMB_ELEMENTS.of(id, WIDTHS.indexOf(width))?.isSigned ?? false;
    if (isSigned ? value < -limit / 2 || value >= limit / 2 : value < 0 || value >= limit) continue;
    byWidth[width].push([id, value < 0 ? value + limit : value]);
    return;
  }
}

const WIDTHS = [1, 2, 4, 8] as const;
const FMB_ELEMENTS = elementsOf('FMB120');

function isByte(value: AttributeValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}
