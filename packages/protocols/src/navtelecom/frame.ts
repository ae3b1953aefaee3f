import { crc8 } from '../crc8.ts';

export const PREAMBLE = Buffer.from('@NTC');
export const HEADER_BYTES = 16;
const SERVER_ID = 1;

/** A frame of NTCB: sender and content. */
export interface NtcbFrame {
  sender: number;
  body: Buffer;
  bytes: number;
}

export interface Fault {
  reason: 'bad-frame' | 'bad-length' | 'bad-checksum';
  detail: string;
}

/** @returns null where the frame is incomplete */
export function readNtcb(bytes: Buffer, from: number, maxBytes: number): NtcbFrame | Fault | null {
  const available = bytes.length - from;
  const begun = Math.min(available, PREAMBLE.length);
  if (bytes.compare(PREAMBLE, 0, begun, from, from + begun) !== 0)
    return { reason: 'bad-frame', detail: 'a frame begins with @NTC' };
  if (available < HEADER_BYTES) return null;
  if (xor(bytes, from, from + HEADER_BYTES) !== 0)
    return { reason: 'bad-checksum', detail: 'the checksum of a header is wrong' };
  const length = bytes.readUInt16LE(from + 12);
  if (HEADER_BYTES + length > maxBytes) return { reason: 'bad-length', detail: `a frame of ${length} bytes` };
  if (available < HEADER_BYTES + length) return null;
  const bodyFrom = from + HEADER_BYTES;
  if (xor(bytes, bodyFrom, bodyFrom + length) !== bytes[from + 14])
    return { reason: 'bad-checksum', detail: 'the checksum of a frame is wrong' };
  return {
    sender: bytes.readUInt32LE(from + 8),
    body: bytes.subarray(bodyFrom, bodyFrom + length),
    bytes: HEADER_BYTES + length,
  };
}

export function buildNtcb(receiver: number, body: Uint8Array, sender = SERVER_ID): Buffer {
  const frame = Buffer.alloc(HEADER_BYTES + body.length);
  PREAMBLE.copy(frame);
  frame.writeUInt32LE(receiver, 4);
  frame.writeUInt32LE(sender, 8);
  frame.writeUInt16LE(body.length, 12);
  frame.set(body, HEADER_BYTES);
  frame[14] = xor(frame, HEADER_BYTES, frame.length);
  frame[15] = xor(frame, 0, 15);
  return frame;
}

/** A frame of FLEX: a mark, a type, content, a checksum. */
export function buildFlex(type: string, content: Uint8Array): Buffer {
  const frame = Buffer.concat([Buffer.from(`~${type}`, 'latin1'), content, Buffer.of(0)]);
  frame[frame.length - 1] = crc8(frame, 0, frame.length - 1);
  return frame;
}

function xor(bytes: Uint8Array, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < to; i += 1) sum ^= bytes[i] as number;
  return sum;
}
