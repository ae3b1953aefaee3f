import type { AttributeValue, Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { crc16Arc } from '../crc16.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { IO, IO_OF_ALARM, ioName, raisesAlarm, signedBytesOf } from './io.ts';
import { CODEC_8, CODEC_8_EXTENDED, MAX_FRAME_BYTES } from './session.ts';

/** Keeps an ordinary packet within the 1280 bytes that the wiki names as the largest. */
const MAX_POSITIONS = 20;
/** The fewest that give a fix with an altitude. */
const SATELLITES_OF_A_FIX = 4;

/**
 * A terminal that speaks Codec 8. What the codec can't carry: fractions of km/h; that speed, course or altitude are
 * unknown (0 is sent); that a valid fix has no known count of satellites (4 is sent: none would make it invalid), or
 * that one that is not valid had some (0 is sent); several kinds of harsh driving at once; the alarms `low-battery`,
 * `tamper` and `other`; attributes other than `eventIo` and whole `io<id>` with an id below 256.
 *
 * @throws {TypeError} when the terminal's id is not 5 to 20 digits
 */
export const createTeltonikaSimulator: CreateSimulator = (terminalId) => new TeltonikaSimulator(terminalId, false);

/** The same in Codec 8 Extended, which carries `io<id>` with ids up to 65,535 and those of any length as hex. */
export const createTeltonikaExtendedSimulator: CreateSimulator = (terminalId) =>
  new TeltonikaSimulator(terminalId, true);

class TeltonikaSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #terminalId: TerminalId;
  readonly #extended: boolean;
  readonly #writer = new ByteWriter();
  #welcomed = false;
  /** How many positions each packet had that is not yet acknowledged. */
  #unacknowledged: number[] = [];
  #received: number[] = [];

  constructor(terminalId: TerminalId, extended: boolean) {
    if (!/^\d{5,20}$/.test(terminalId)) throw new TypeError(`a Teltonika terminal's id is digits, not ${terminalId}`);
    this.#terminalId = terminalId;
    this.#extended = extended;
  }

  hello(): Buffer {
    return this.#writer.clear().u16be(this.#terminalId.length).append(Buffer.from(this.#terminalId)).toBuffer();
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const out = this.#writer.clear().u32be(0).u32be(0);
    out.u8(this.#extended ? CODEC_8_EXTENDED : CODEC_8).u8(positions.length);
    for (const position of positions) writeRecord(out, position, this.#extended);
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
    for (const byte of chunk) {
      if (!this.#welcomed) {
        this.#welcomed = byte === 1;
        replies.push(this.#welcomed ? { type: 'welcome' } : { type: 'refused', detail: 'the IMEI was not accepted' });
        continue;
      }
      this.#received.push(byte);
      if (this.#received.length < 4) continue;
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
}

type Elements = [id: number, value: number | bigint][];

function writeRecord(out: ByteWriter, position: Position, extended: boolean): void {
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
  const idLimit = extended ? 65535 : 255;
  let eventId = 0;

  if (position.ignition !== null) byWidth[1].push([IO.ignition, position.ignition ? 1 : 0]);
  if (position.supplyV !== null) {
    const millivolts = clampRound(position.supplyV * 1000, 0, 0xffffffff);
    if (millivolts <= 65535) byWidth[2].push([IO.supply, millivolts]);
    else if (extended) byWidth[4].push([IO.supplyWide, millivolts]);
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
    // One element is named as the event; overspeeding is an alarm only as that.
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
        else if (extended && id === IO.vin) ofAnyLength.push([id, Buffer.from(value, 'latin1')]);
        else if (extended && /^([0-9a-f]{2}){0,255}$/.test(value)) ofAnyLength.push([id, Buffer.from(value, 'hex')]);
      }
    }
  }

  const writeId = (value: number) => (extended ? out.u16be(value) : out.u8(value));
  const widths = [1, 2, 4, 8] as const;
  writeId(eventId);
  writeId(
    Math.min(
      idLimit,
      widths.reduce((sum, width) => sum + byWidth[width].length, ofAnyLength.length),
    ),
  );
  for (const width of widths) {
    const elements = byWidth[width].slice(0, idLimit);
    writeId(elements.length);
    for (const [id, value] of elements) {
      writeId(id);
      if (width === 1) out.u8(Number(value));
      else if (width === 2) out.u16be(Number(value));
      else if (width === 4) out.u32be(Number(value));
      else out.u64be(value);
    }
  }
  if (!extended) return;
  out.u16be(ofAnyLength.length);
  for (const [id, bytes] of ofAnyLength) out.u16be(id).u16be(bytes.length).append(bytes);
}

function pushNumber(byWidth: Record<1 | 2 | 4 | 8, Elements>, id: number, value: number): void {
  if (!Number.isSafeInteger(value)) return;
  const signedBytes = signedBytesOf(id) as 0 | 1 | 2 | 4;
  if (signedBytes !== 0) {
    const half = 2 ** (8 * signedBytes - 1);
    if (value >= -half && value < half) byWidth[signedBytes].push([id, value < 0 ? value + 2 * half : value]);
  } else if (value < 0) return;
  else if (value < 2 ** 8) byWidth[1].push([id, value]);
  else if (value < 2 ** 16) byWidth[2].push([id, value]);
  else if (value < 2 ** 32) byWidth[4].push([id, value]);
  else byWidth[8].push([id, value]);
}

function isByte(value: AttributeValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}
