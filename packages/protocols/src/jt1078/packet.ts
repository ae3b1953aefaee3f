import { readPhone, readTerminalNumber } from '../jt808/bcd.ts';

/** First bytes of every packet of a stream: the characters `01cd`. */
export const MAGIC = Buffer.from([0x30, 0x31, 0x63, 0x64]);

/** The standard allows 950 bytes of payload; terminals exceed it, but stay below this. */
export const MAX_PAYLOAD_BYTES = 16 * 1024;

/** Magic, flags, marker and payload type, sequence. */
const PHONE_AT = 8;
/** Bytes of a phone number: 6 in the edition of 2016, 10 as terminals of the 2019 edition write it. */
export type PhoneForm = 6 | 10;
export const LONGEST_HEADER_BYTES = PHONE_AT + 10 + 1 + 1 + 8 + 2 + 2 + 2;

export const KIND = { key: 0, predicted: 1, bidirectional: 2, audio: 3, data: 4 } as const;
export const PART = { whole: 0, first: 1, last: 2, middle: 3 } as const;

/** One packet of a stream (JT/T 1078, "format of the stream's packets"). */
export interface StreamPacket {
  payloadType: number;
  /** Set on the last packet of a frame, by terminals that support it. */
  marker: boolean;
  sequence: number;
  /** The terminal's number, as in the headers of JT/T 808: hexadecimal digits without leading zeros. */
  phone: string;
  channel: number;
  /** See {@link KIND}. */
  kind: number;
  /** See {@link PART}. */
  part: number;
  /** Milliseconds since a time that the terminal chooses; 0 for data, which have no timestamp. */
  timestampMs: number;
  /** A view of the bytes that were read. */
  payload: Buffer;
}

/** Layout of a packet; null where the bytes cannot be its header. */
export interface PacketHeader {
  headerBytes: number;
  payloadBytes: number;
}

/**
 * Reads a header as far as needed for its length and the length of the payload.
 *
 * @param to end of the readable bytes
 * @returns `cut-off` where it is incomplete, null where no packet begins like this
 */
export function readHeader(bytes: Buffer, from: number, to: number, form: PhoneForm): PacketHeader | 'cut-off' | null {
  const kindAt = from + PHONE_AT + form + 1;
  if (kindAt >= to) return 'cut-off';
  const kind = (bytes[kindAt] as number) >> 4;
  const part = (bytes[kindAt] as number) & 0x0f;
  if (kind > KIND.data || part > PART.middle) return null;
  const lengthAt = kindAt + 1 + timeBytes(kind) + gapBytes(kind);
  if (lengthAt + 2 > to) return 'cut-off';
  const payloadBytes = bytes.readUInt16BE(lengthAt);
  if (payloadBytes > MAX_PAYLOAD_BYTES) return null;
  return { headerBytes: lengthAt + 2 - from, payloadBytes };
}

/** Payload types of the standard's table: audio up to 28, video from 98 to 101, and user-defined data. */
const LAST_AUDIO_TYPE = 28;
const VIDEO_TYPES = { first: 98, last: 101 };
const OPEN_DATA_TYPE = 91;
/** Fewer digits are the beginning of a longer number. */
const SHORTEST_PHONE = 7;

/** Whether the terminal's number has decimal digits only. */
export function hasPhone(bytes: Buffer, from: number, form: PhoneForm): boolean {
  return readPhone(bytes, from + PHONE_AT, from + PHONE_AT + form) !== null;
}

/** Whether payload type, kind and number are consistent, as they are in a header read with the right form. */
export function isPlausible(bytes: Buffer, from: number, form: PhoneForm): boolean {
  if (readTerminalNumber(bytes, from + PHONE_AT, from + PHONE_AT + form).length < SHORTEST_PHONE) return false;
  const type = (bytes[from + 5] as number) & 0x7f;
  const kind = (bytes[from + PHONE_AT + form + 1] as number) >> 4;
  if (type <= LAST_AUDIO_TYPE) return kind === KIND.audio;
  if (type >= VIDEO_TYPES.first && type <= VIDEO_TYPES.last) return kind <= KIND.bidirectional;
  return type !== OPEN_DATA_TYPE || kind === KIND.data;
}

/** Reads a complete packet. */
export function readPacket(bytes: Buffer, from: number, form: PhoneForm, header: PacketHeader): StreamPacket {
  const phoneEnd = from + PHONE_AT + form;
  const markerAndType = bytes[from + 5] as number;
  const kindAndPart = bytes[phoneEnd + 1] as number;
  const kind = kindAndPart >> 4;
  const payloadAt = from + header.headerBytes;
  return {
    payloadType: markerAndType & 0x7f,
    marker: (markerAndType & 0x80) !== 0,
    sequence: bytes.readUInt16BE(from + 6),
    phone: readTerminalNumber(bytes, from + PHONE_AT, phoneEnd),
    channel: bytes[phoneEnd] as number,
    kind,
    part: kindAndPart & 0x0f,
    timestampMs: kind === KIND.data ? 0 : Number(bytes.readBigUInt64BE(phoneEnd + 2)),
    payload: bytes.subarray(payloadAt, payloadAt + header.payloadBytes),
  };
}

/** Builds a packet. Only video carries the intervals to earlier frames. */
export function buildPacket(
  packet: StreamPacket,
  form: PhoneForm,
  gaps: { toKeyFrameMs: number; toFrameMs: number } = { toKeyFrameMs: 0, toFrameMs: 0 },
): Buffer {
  const { kind, payload } = packet;
  const bytes = Buffer.alloc(PHONE_AT + form + 2 + timeBytes(kind) + gapBytes(kind) + 2 + payload.length);
  MAGIC.copy(bytes);
  // RTP version 2, no padding, no extension, one source.
  bytes[4] = 0x81;
  bytes[5] = (packet.marker ? 0x80 : 0) | packet.payloadType;
  bytes.writeUInt16BE(packet.sequence, 6);
  bytes.write(packet.phone.padStart(2 * form, '0'), PHONE_AT, 'hex');
  let p = PHONE_AT + form;
  p = bytes.writeUInt8(packet.channel, p);
  p = bytes.writeUInt8((kind << 4) | packet.part, p);
  if (timeBytes(kind) > 0) p = bytes.writeBigUInt64BE(BigInt(packet.timestampMs), p);
  if (gapBytes(kind) > 0) {
    p = bytes.writeUInt16BE(Math.min(0xffff, gaps.toKeyFrameMs), p);
    p = bytes.writeUInt16BE(Math.min(0xffff, gaps.toFrameMs), p);
  }
  p = bytes.writeUInt16BE(payload.length, p);
  payload.copy(bytes, p);
  return bytes;
}

function timeBytes(kind: number): number {
  return kind === KIND.data ? 0 : 8;
}

function gapBytes(kind: number): number {
  return kind <= KIND.bidirectional ? 4 : 0;
}
