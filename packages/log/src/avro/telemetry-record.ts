import {
  ALARMS,
  FIX_TIME_MS,
  IGNITION,
  ODOMETER_M,
  type PackedPacket,
  type PacketSink,
  type PacketTrace,
  POSITION_NUMBERS,
  type ProtocolName,
  SPEED_KMH_E1,
  VALID,
} from '@outrider/domain';
import {
  goTo,
  malformed,
  place,
  readBlock,
  readBoolean,
  readByte,
  readDouble,
  readEnd,
  readFrom,
  readInt,
  readLong,
  readNullable,
  skipString,
} from './reading.ts';
import {
  decodeTelemetry,
  readAttributes,
  readProtocol,
  readTrace,
  versionsBeforeCurrent,
  WITHOUT_TRACE,
} from './telemetry.ts';

/**
 * A packet in its encoded form, decoded only when needed. Invalid bytes are therefore detected late:
 * see {@link TelemetryRecord.check}.
 */
export class TelemetryRecord implements PackedPacket {
  /** The whole record. */
  readonly bytes: Buffer;
  readonly protocol: ProtocolName;
  /** Unix milliseconds at which the gateway received the packet. */
  readonly receivedAtMs: number;
  #rows: number;
  readonly #hasTrace: boolean;
  readonly #positionsAt: number;

  /** @throws {Error} when the bytes do not begin like a telemetry record */
  constructor(bytes: Buffer) {
    const versions = versionsBeforeCurrent(bytes);
    readFrom(bytes);
    skipString();
    skipString();
    this.bytes = bytes;
    this.protocol = readProtocol(versions);
    this.receivedAtMs = readLong();
    this.#hasTrace = versions < WITHOUT_TRACE;
    this.#positionsAt = place();
    this.#rows = readBlock();
  }

  /**
   * Number of positions. Before {@link check} it counts only the first block of the array; only other encoders write
   * several blocks.
   */
  get rows(): number {
    return this.#rows;
  }

  /** Null when the packet has no trace, or its bytes are invalid. */
  get trace(): PacketTrace | null {
    try {
      return decodeTelemetry(this.bytes).trace ?? null;
    } catch {
      return null;
    }
  }

  /**
   * Decodes the whole record, and counts its positions.
   *
   * @throws {UnreadableRecordError} when the bytes are not a valid record
   */
  check(): void {
    try {
      this.#rows = decodeTelemetry(this.bytes).positions.length;
    } catch (error) {
      throw new UnreadableRecordError((error as Error).message, { cause: error });
    }
  }

  readInto(sink: PacketSink): void {
    const { bytes, protocol, receivedAtMs } = this;
    readFrom(bytes);
    const vehicleIdFrom = skipString();
    const vehicleIdTo = place();
    const terminalIdFrom = skipString();
    sink.packet(bytes, vehicleIdFrom, vehicleIdTo, terminalIdFrom, place(), protocol, receivedAtMs);
    goTo(this.#positionsAt);
    for (let left = readBlock(); left > 0; left = readBlock()) {
      for (; left > 0; left--) readPositionInto(sink, bytes);
    }
    if (this.#hasTrace && readNullable()) readTrace();
    readEnd();
  }
}

/** The bytes are not a valid record of their topic: no reader can decode them. */
export class UnreadableRecordError extends Error {
  override name = 'UnreadableRecordError';
}

/** Numbers of the position that was read last. */
const numbers = new Float64Array(POSITION_NUMBERS);

const INT = 0;
const LONG = 1;
const BOOLEAN = 2;
const KINDS = Uint8Array.from({ length: POSITION_NUMBERS }, (_, place) => {
  if (place === FIX_TIME_MS || place === ODOMETER_M) return LONG;
  return place === VALID || place === IGNITION ? BOOLEAN : INT;
});
/** Numbers from this index on may be null. */
const FIRST_NULLABLE = SPEED_KMH_E1;

/**
 * Reads the numbers of a position, which are most of a record: in one loop, for speed.
 *
 * @returns bits that mark which numbers are known
 */
function readNumbers(bytes: Buffer): number {
  const begin = place();
  let at = begin;
  let known = 0;
  for (let field = 0; field < POSITION_NUMBERS; field++) {
    if (field >= FIRST_NULLABLE) {
      const branch = bytes[at++] as number;
      if (branch === 0) {
        numbers[field] = 0;
        continue;
      }
      if (branch !== 2) return readNumbersSlowly(begin);
    }
    known |= 1 << field;
    let byte = bytes[at++] as number;
    const kind = KINDS[field];
    if (kind === BOOLEAN) {
      if (byte > 1) return readNumbersSlowly(begin);
      numbers[field] = byte;
      continue;
    }
    let low = byte & 127;
    for (let shift = 7; byte > 127 && shift < 28; shift += 7) {
      byte = bytes[at++] as number;
      low |= (byte & 127) << shift;
    }
    if (byte <= 127) numbers[field] = (low >>> 1) ^ -(low & 1);
    else if (kind === INT) {
      byte = bytes[at++] as number;
      if (byte > 127) return readNumbersSlowly(begin);
      low |= byte << 28;
      numbers[field] = (low >>> 1) ^ -(low & 1);
    } else {
      byte = bytes[at++] as number;
      let high = byte & 127;
      if (byte > 127) {
        byte = bytes[at++] as number;
        if (byte > 127) return readNumbersSlowly(begin);
        high |= byte << 7;
      }
      const half = high * 2 ** 27 + (low >>> 1);
      numbers[field] = low & 1 ? -half - 1 : half;
    }
  }
  // Some of the bytes read were beyond the end.
  if (at > bytes.length) return readNumbersSlowly(begin);
  goTo(at);
  return known;
}

/** Does the same for longs of any length and for invalid records. */
function readNumbersSlowly(begin: number): number {
  goTo(begin);
  let known = 0;
  for (let field = 0; field < POSITION_NUMBERS; field++) {
    numbers[field] = 0;
    if (field >= FIRST_NULLABLE && !readNullable()) continue;
    known |= 1 << field;
    const kind = KINDS[field];
    numbers[field] = kind === LONG ? readLong() : kind === INT ? readInt() : Number(readBoolean());
  }
  return known;
}

function readPositionInto(sink: PacketSink, bytes: Buffer): void {
  const known = readNumbers(bytes);
  sink.position(numbers, known);
  for (let left = readBlock(); left > 0; left = readBlock()) {
    for (; left > 0; left--) sink.alarm(ALARMS[readInt()] ?? malformed('alarm'));
  }
  if (readNullable()) readAttributesInto(sink, bytes);
  else sink.noAttributes();
}

function readAttributesInto(sink: PacketSink, bytes: Buffer): void {
  const begin = place();
  sink.beginAttributes();
  for (let left = readBlock(); left > 0; left = readBlock()) {
    for (; left > 0; left--) {
      const nameFrom = skipString();
      if (!sink.attributeName(bytes, nameFrom, place())) {
        goTo(begin);
        sink.attributes(readAttributes());
        return;
      }
      readAttributeInto(sink, bytes);
    }
  }
  sink.endAttributes();
}

function readAttributeInto(sink: PacketSink, bytes: Buffer): void {
  switch (readByte()) {
    case 0:
      sink.attributeBoolean(readBoolean());
      return;
    case 2:
      sink.attributeNumber(readLong());
      return;
    case 4:
      sink.attributeNumber(readDouble());
      return;
    case 6: {
      const from = skipString();
      sink.attributeText(bytes, from, place());
      return;
    }
    default:
      malformed('attribute');
  }
}
