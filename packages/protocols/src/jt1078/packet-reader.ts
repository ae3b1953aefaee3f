import {
  hasPhone,
  isPlausible,
  LONGEST_HEADER_BYTES,
  MAGIC,
  MAX_PAYLOAD_BYTES,
  type PacketHeader,
  type PhoneForm,
  readHeader,
  readPacket,
  type StreamPacket,
} from './packet.ts';

/** Bytes between packets are skipped; with more than this in a row, the data are not a stream. */
const MAX_SKIPPED_IN_A_ROW = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Extracts packets from the bytes of a stream. A packet is accepted only when the next one begins where it ends.
 * Otherwise a truncated packet would swallow the beginning of the next one: it is dropped, and the reader
 * resynchronizes. No field states the length of the phone numbers; it is deduced from the first packet in the same way.
 */
export class PacketReader {
  /** Bytes outside of any packet, or of a truncated packet. */
  bytesSkipped = 0;
  /** The bytes are not a stream; further bytes are ignored. */
  failed = false;
  #tail: Buffer = NOTHING;
  #form: PhoneForm | null = null;
  #skippedInARow = 0;
  #ended = false;

  /** Maximum number of received bytes held. */
  static readonly maxHeldBytes = LONGEST_HEADER_BYTES + MAX_PAYLOAD_BYTES + MAGIC.length;

  get heldBytes(): number {
    return this.#tail.length;
  }

  /** @param take called with each packet, whose payload is a view that must not be kept */
  push(chunk: Buffer, take: (packet: StreamPacket) => void): void {
    if (this.failed || this.#ended || chunk.length === 0) return;
    const bytes = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const from = this.#takeAll(bytes, take);
    // Copied, because the caller may reuse the chunk.
    this.#tail = this.failed || from === bytes.length ? NOTHING : Buffer.from(bytes.subarray(from));
  }

  /** Ends the input and processes the remaining bytes. */
  end(take: (packet: StreamPacket) => void): void {
    if (this.failed || this.#ended) return;
    this.#ended = true;
    const from = this.#takeAll(this.#tail, take);
    if (!this.failed) this.#skip(this.#tail.length - from);
    this.#tail = NOTHING;
  }

  /** @returns offset of the first byte that cannot be processed yet */
  #takeAll(bytes: Buffer, take: (packet: StreamPacket) => void): number {
    let from = 0;
    while (from < bytes.length && !this.failed) {
      const step = this.#step(bytes, from, take);
      if (step === 0) break;
      from += step;
    }
    return from;
  }

  /** @returns the number of bytes consumed or skipped; 0 when more are needed */
  #step(bytes: Buffer, from: number, take: (packet: StreamPacket) => void): number {
    if (!beginsLikeMagic(bytes, from)) return this.#skipToMagic(bytes, from);
    if (bytes.length - from < MAGIC.length) return 0;

    const form = this.#form ?? this.#findForm(bytes, from);
    if (form === 'undecided') return 0;
    const header = form === null ? null : readHeader(bytes, from, bytes.length, form);
    if (header === 'cut-off') return this.#ended ? this.#skipToMagic(bytes, from) : 0;
    if (form === null || header === null) return this.#skipToMagic(bytes, from);

    const next = from + header.headerBytes + header.payloadBytes;
    if (bytes.length < next + MAGIC.length && !this.#ended) return 0;
    // Another packet begins within the header, so this packet is truncated. Within the payload, the same bytes may be
    // video data.
    if (bytes.subarray(from + 1, from + header.headerBytes + MAGIC.length - 1).includes(MAGIC))
      return this.#skipToMagic(bytes, from);
    if (bytes.length < next) return this.#skipToMagic(bytes, from);
    if (!beginsLikeMagic(bytes, next) && bytes.subarray(from + 1, next + MAGIC.length - 1).includes(MAGIC))
      return this.#skipToMagic(bytes, from);
    this.#form = form;
    this.#skippedInARow = 0;
    take(readPacket(bytes, from, form, header));
    return next - from;
  }

  /**
   * Deduces the length of phone numbers. Criteria, in this order: a packet can begin here; its fields are consistent;
   * the number has decimal digits only; another packet follows.
   *
   * @returns null where no packet can begin here
   */
  #findForm(bytes: Buffer, from: number): PhoneForm | null | 'undecided' {
    const available = bytes.length - from;
    if (available < LONGEST_HEADER_BYTES && !this.#ended) return 'undecided';
    const short = readHeader(bytes, from, bytes.length, 6);
    const long = readHeader(bytes, from, bytes.length, 10);
    if (!isHeader(short)) return isHeader(long) ? 10 : null;
    if (!isHeader(long)) return 6;
    const shortAgrees = isPlausible(bytes, from, 6);
    if (shortAgrees !== isPlausible(bytes, from, 10)) return shortAgrees ? 6 : 10;
    // Ten bytes of decimal digits also begin with six such bytes, so a match of both forms decides nothing.
    if (hasPhone(bytes, from, 6) && !hasPhone(bytes, from, 10)) return 6;
    const shortNext = from + short.headerBytes + short.payloadBytes;
    const longNext = from + long.headerBytes + long.payloadBytes;
    if (bytes.length < Math.max(shortNext, longNext) + MAGIC.length && !this.#ended) return 'undecided';
    if (isFollowed(bytes, shortNext)) return 6;
    return isFollowed(bytes, longNext) ? 10 : 6;
  }

  /** Skips to the next packet, or to the beginning of a possible one that more bytes would complete. */
  #skipToMagic(bytes: Buffer, from: number): number {
    const searchFrom = from + 1;
    const at = bytes.indexOf(MAGIC, searchFrom);
    let to = at;
    if (at === -1) {
      to = bytes.length;
      for (let p = Math.max(searchFrom, bytes.length - (MAGIC.length - 1)); p < bytes.length; p++)
        if (beginsLikeMagic(bytes, p)) {
          to = p;
          break;
        }
    }
    this.#skip(to - from);
    return to - from;
  }

  #skip(count: number): void {
    this.bytesSkipped += count;
    this.#skippedInARow += count;
    if (this.#skippedInARow > MAX_SKIPPED_IN_A_ROW) this.failed = true;
  }
}

function isHeader(header: PacketHeader | 'cut-off' | null): header is PacketHeader {
  return header !== null && header !== 'cut-off';
}

/** Whether a packet begins, or the bytes end, at `at`. */
function isFollowed(bytes: Buffer, at: number): boolean {
  return at <= bytes.length && beginsLikeMagic(bytes, at);
}

/** Whether the bytes from `at` on match the beginning of a packet; fewer bytes than the magic may match. */
function beginsLikeMagic(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < MAGIC.length && at + i < bytes.length; i++) if (bytes[at + i] !== MAGIC[i]) return false;
  return true;
}
