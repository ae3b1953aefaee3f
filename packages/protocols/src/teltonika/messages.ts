import { crc16Arc } from '../crc16.ts';

/** Codecs of messages: text of the terminal or of a serial device connected to it, and answers to commands. */
export const CODEC_12 = 0x0c;
/** With a time before the text. */
export const CODEC_13 = 0x0d;
/** With the terminal's IMEI before the text. */
export const CODEC_14 = 0x0e;
/** With time and IMEI before the text. */
export const CODEC_15 = 0x0f;

/** Types of a message. */
export const MESSAGE = {
  command: 0x05,
  answer: 0x06,
  /** Answer to a command in Codec 14 that named another IMEI. */
  refused: 0x11,
} as const;

/** Bytes of a message before its text, by codec. */
const BYTES_BEFORE_TEXT: Readonly<Record<number, number>> = {
  [CODEC_12]: 0,
  [CODEC_13]: 4,
  [CODEC_14]: 8,
  [CODEC_15]: 12,
};
const TIME_BYTES = 4;

/** Zeros (4), length (4), and the checksum (4), none of which the length counts. */
export const ENVELOPE_BYTES = 12;

export interface Message {
  type: number;
  text: string;
  /** When the terminal received the text, Unix milliseconds; null where the codec does not carry it. */
  timeMs: number | null;
}

export function carriesMessages(codec: number): boolean {
  return BYTES_BEFORE_TEXT[codec] !== undefined;
}

/**
 * Reads messages: codec, count, and for each message its type, its size and its text; then the count again.
 *
 * @param start offset of the codec
 * @param end offset of the repeated count
 * @returns the messages, or what is wrong
 */
export function readMessages(bytes: Buffer, start: number, end: number): Message[] | string {
  const codec = bytes[start] as number;
  const beforeText = BYTES_BEFORE_TEXT[codec] ?? 0;
  const hasTime = codec === CODEC_13 || codec === CODEC_15;
  const count = bytes[start + 1] as number;
  if (count !== bytes[end - 1]) return `${count} messages at the beginning, ${bytes[end - 1]} at the end`;
  const messages: Message[] = [];
  let p = start + 2;
  for (let message = 1; message <= count; message++) {
    const type = bytes[p] as number;
    const size = end - 1 - p >= 5 ? bytes.readUInt32BE(p + 1) : Number.NaN;
    p += 5;
    if (!(size <= end - 1 - p)) return `message ${message} of ${count} is cut off`;
    const text = textOf(bytes.subarray(p + Math.min(beforeText, size), p + size));
    const timeMs = hasTime && size >= TIME_BYTES ? bytes.readUInt32BE(p) * 1000 : null;
    messages.push({ type, text, timeMs });
    p += size;
  }
  return p === end - 1 ? messages : `${end - 1 - p} bytes after the last message`;
}

/**
 * Encodes one message with its frame.
 *
 * @param before bytes of the codec before the text: time, IMEI
 */
export function encodeMessage(codec: number, type: number, text: string, before: Buffer = Buffer.alloc(0)): Buffer {
  const words = Buffer.from(text, 'latin1');
  const size = before.length + words.length;
  const end = 8 + 3 + 5 + size;
  const frame = Buffer.alloc(end + 4);
  frame.writeUInt32BE(end - 8, 4);
  frame[8] = codec;
  frame[9] = 1;
  frame[10] = type;
  frame.writeUInt32BE(size, 11);
  before.copy(frame, 15);
  words.copy(frame, 15 + before.length);
  frame[end - 1] = 1;
  frame.writeUInt32BE(crc16Arc(frame, 8, end), end);
  return frame;
}

/**
 * Printable text is kept unchanged. Anything else becomes hexadecimal digits, such as the binary protocol of a serial
 * device.
 */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return /^[\x20-\x7e\t\r\n]*$/.test(text) ? text.trimEnd() : bytes.toString('hex');
}
