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

/** What comes in between packets is skipped; more than this in a row is no stream. */
const MAX_SKIPPED_IN_A_ROW = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Takes packets out of a stream's bytes. Each is taken once it is seen that the next one begins where it ends, so that
 * a packet of which the end is missing does not take the beginning of the next one for it: it is dropped, and the next
 * one is found. How long the phone numbers are, which no field reports, is found out from the first packet in the same
 * way.
 */
export class PacketReader {
  /** Bytes that belonged to no packet, or to one that was cut off. */
  bytesSkipped = 0;
  /** The bytes are no stream; nothing more is taken. */
  failed = false;
  #tail: Buffer = NOTHING;
  #form: PhoneForm | null = null;
  #skippedInARow = 0;
  #ended = false;

  /** What it holds of bytes that came, at most. */
  static readonly maxHeldBytes = LONGEST_HEADER_BYTES + MAX_PAYLOAD_BYTES + MAGIC.length;

  get heldBytes(): number {
    return this.#tail.length;
  }

  /** @param take called with each packet, whose payload is a view that must not be kept */
  push(chunk: Buffer, take: (packet: StreamPacket) => void): void {
    if (this.failed || this.#ended || chunk.length === 0) return;
    const bytes = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const from = this.#takeAll(bytes, take);
    // Memory of its own: the chunk is the caller's again.
    this.#tail = this.failed || from === bytes.length ? NOTHING : Buffer.from(bytes.subarray(from));
  }

  /** No more bytes come: what is left is looked at with this in mind. */
  end(take: (packet: StreamPacket) => void): void {
    if (this.failed || this.#ended) return;
    this.#ended = true;
    const from = this.#takeAll(this.#tail, take);
    if (!this.failed) this.#skip(this.#tail.length - from);
    this.#tail = NOTHING;
  }

  /** @returns where what can't be taken yet begins */
  #takeAll(bytes: Buffer, take: (packet: StreamPacket) => void): number {
    let from = 0;
    while (from < bytes.length && !this.failed) {
      const step = this.#step(bytes, from, take);
      if (step === 0) break;
      from += step;
    }
    return from;
  }

  /** @returns how many bytes it took or skipped; 0 when more are needed */
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
    // Another packet begins within the header: this one ended there. Within the payload the same bytes may be a
    // picture's.
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
   * The length of phone numbers: the one by which a packet can begin here; where both could, the one by which its
   * fields agree, then the one that gives decimal digits; and where both do, the one by which another packet follows.
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
    // Ten bytes with decimal digits alone begin with six such bytes.
    if (hasPhone(bytes, from, 6) && !hasPhone(bytes, from, 10)) return 6;
    const shortNext = from + short.headerBytes + short.payloadBytes;
    const longNext = from + long.headerBytes + long.payloadBytes;
    if (bytes.length < Math.max(shortNext, longNext) + MAGIC.length && !this.#ended) return 'undecided';
    if (isFollowed(bytes, shortNext)) return 6;
    return isFollowed(bytes, longNext) ? 10 : 6;
  }

  /** Skips to the next packet, or to where one might begin when more bytes come. */
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

/** Does a packet, or the end of the bytes, stand at `at`? */
function isFollowed(bytes: Buffer, at: number): boolean {
  return at <= bytes.length && beginsLikeMagic(bytes, at);
}

/** Do the bytes from `at` on begin like a packet, as far as there are any? */
function beginsLikeMagic(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < MAGIC.length && at + i < bytes.length; i++) if (bytes[at + i] !== MAGIC[i]) return false;
  return true;
}
