import { crc16X25 } from '../crc16.ts';

/** Protocol numbers: the type of the message in a frame. */
export const MESSAGE = {
  login: 0x01,
  /** A place without a cell. */
  gps: 0x10,
  cell: 0x11,
  location: 0x12,
  heartbeat: 0x13,
  text: 0x15,
  alarm: 0x16,
  cells: 0x18,
  cellWithStatus: 0x19,
  /** Sent when a caller or the sender of an SMS requests the address. The service does not send addresses. */
  gpsOfCall: 0x1a,
  gpsOfAddress: 0x2a,
  textLong: 0x21,
  locationWithStatus: 0x22,
  ownHeartbeat: 0x23,
  alarmWithStatus: 0x26,
  fenceAlarm: 0x27,
  cellsUtc: 0x28,
  cellsAndWifi: 0x2c,
  /** Begins with the state, as {@link MESSAGE.ownHeartbeat} does. */
  longHeartbeat: 0x36,
  command: 0x80,
  time: 0x8a,
  information: 0x94,
  /** With 4G cells, whose numbers are longer. */
  wideLocation: 0xa0,
  wideCells: 0xa1,
  wideFenceAlarm: 0xa4,
} as const;

const DOCUMENTED: ReadonlySet<number> = new Set(Object.values(MESSAGE));

/** Whether the number is one of {@link MESSAGE}. */
export function isDocumented(number: number): boolean {
  return DOCUMENTED.has(number);
}

/** Information transmissions are the longest frames; no maker's document has one above 1 KiB. */
export const MAX_FRAME_BYTES = 2048;

/** Start byte of a frame with a one-byte length, and of one with a two-byte length. */
export const START_SHORT = 0x78;
export const START_LONG = 0x79;

/** Serial number, checksum and stop bits at the end of every frame. */
const TRAILER_BYTES = 6;
/** Protocol number, serial number and checksum: the length field counts them in addition to the content. */
const COUNTED_BYTES = 5;

export interface Frame {
  number: number;
  /** Start of the content. */
  from: number;
  to: number;
  serial: number;
  /** Length of the whole frame in bytes. */
  bytes: number;
}

export interface FrameFault {
  reason: 'bad-frame' | 'bad-length' | 'bad-checksum';
  detail: string;
}

/** @returns null where the frame is incomplete */
export function readFrame(bytes: Buffer, from: number): Frame | FrameFault | null {
  const start = bytes[from];
  if (start !== START_SHORT && start !== START_LONG)
    return { reason: 'bad-frame', detail: 'a frame begins with 78 78 or 79 79' };
  const available = bytes.length - from;
  if (available < 2) return null;
  if (bytes[from + 1] !== start) return { reason: 'bad-frame', detail: 'the start bits of a frame differ' };
  const lengthBytes = start === START_SHORT ? 1 : 2;
  if (available < 2 + lengthBytes) return null;
  const length = bytes.readUIntBE(from + 2, lengthBytes);
  const total = 2 + lengthBytes + length + 2;
  if (length < COUNTED_BYTES || total > MAX_FRAME_BYTES)
    return { reason: 'bad-length', detail: `a frame of ${length} bytes` };
  if (available < total) return null;
  const end = from + total;
  if (bytes[end - 2] !== 0x0d || bytes[end - 1] !== 0x0a)
    return { reason: 'bad-frame', detail: 'a frame ends with 0d 0a' };
  if (bytes.readUInt16BE(end - 4) !== crc16X25(bytes, from + 2, end - 4))
    return { reason: 'bad-checksum', detail: 'the checksum of a frame is wrong' };
  const contentFrom = from + 2 + lengthBytes + 1;
  return {
    number: bytes[contentFrom - 1] as number,
    from: contentFrom,
    to: end - TRAILER_BYTES,
    serial: bytes.readUInt16BE(end - TRAILER_BYTES),
    bytes: total,
  };
}

/** Frame of the neighbouring networks, sent by clones. */
export interface NetworksFrame {
  number: number;
  /** Offset of the time, which is written as decimal digits. */
  timeAt: number;
  /** Offset of country, network and cells; null without cells. */
  cellsAt: number | null;
  bytes: number;
}

const NETWORKS: ReadonlySet<number> = new Set([0x17, 0x69]);
const NETWORKS_TIME_BYTES = 6;
const ACCESS_POINT_BYTES = 7;
const NETWORK_BYTES = 3;
const NETWORK_CELL_BYTES = 5;
const MAX_NETWORKS = 20;

/**
 * Reads a frame of the neighbouring networks, as clones send it. Its length field holds the number of access points,
 * and it has no checksum.
 *
 * @returns null where it is no such frame; 0 where it may be one but is incomplete
 */
export function readNetworksFrame(bytes: Buffer, from: number): NetworksFrame | 0 | null {
  const [first, second, points = 0, number] = bytes.subarray(from, from + 4);
  if (first !== START_SHORT || second !== START_SHORT || points > MAX_NETWORKS) return null;
  if (number === undefined || !NETWORKS.has(number)) return null;
  const timeAt = from + 4;
  if (!/^\d*$/.test(bytes.toString('hex', timeAt, timeAt + NETWORKS_TIME_BYTES))) return null;
  const countAt = timeAt + NETWORKS_TIME_BYTES + points * ACCESS_POINT_BYTES;
  const cells = bytes[countAt];
  if (cells === undefined) return 0;
  if (cells > MAX_NETWORKS) return null;
  const cellsEnd = countAt + 1 + (cells === 0 ? 0 : NETWORK_BYTES + cells * NETWORK_CELL_BYTES);
  // Some clones send an additional byte before the stop bits.
  for (const end of [cellsEnd, cellsEnd + 1]) {
    if (bytes.length < end + 2) return 0;
    if (bytes[end] === 0x0d && bytes[end + 1] === 0x0a)
      return { number, timeAt, cellsAt: cells === 0 ? null : countAt + 1, bytes: end + 2 - from };
  }
  return null;
}

/** The answer to a frame of networks: a frame of the same kind with the same time. */
export function buildNetworksAnswer(number: number, time: Uint8Array): Buffer {
  return Buffer.of(START_SHORT, START_SHORT, 0, number, ...time, 0x0d, 0x0a);
}

/** Builds a frame with a one-byte length. */
export function buildFrame(number: number, content: Uint8Array, serial: number): Buffer {
  const length = content.length + COUNTED_BYTES;
  if (length > 0xff) throw new RangeError(`a frame of ${length} bytes`);
  const frame = Buffer.alloc(length + 5);
  frame.fill(START_SHORT, 0, 2);
  frame[2] = length;
  frame[3] = number;
  frame.set(content, 4);
  const serialAt = 4 + content.length;
  frame.writeUInt16BE(serial, serialAt);
  frame.writeUInt16BE(crc16X25(frame, 2, serialAt + 2), serialAt + 2);
  frame.write('\r\n', serialAt + 4, 'latin1');
  return frame;
}
