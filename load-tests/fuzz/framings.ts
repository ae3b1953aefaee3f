import { crc8 } from '../../packages/protocols/src/crc8.ts';
import { crc16Arc, crc16CcittFalse, crc16Kermit, crc16Modbus, crc16X25 } from '../../packages/protocols/src/crc16.ts';
import { buildPacket } from '../../packages/protocols/src/meitrack/session.ts';
import { buildNtcb } from '../../packages/protocols/src/navtelecom/frame.ts';
import type { Framing } from './target.ts';

/*
 * Frames of the protocols as mutation needs them: written apart from the codecs, and more lenient, as what was mutated
 * once is split again.
 */

const BLOCK_MARK = Buffer.from('0bbb', 'hex');

/** Zeros, length, content, checksum; an IMEI before the first packet. */
export const teltonikaFraming: Framing = {
  split(wire) {
    const frames: Buffer[] = [];
    for (let from = 0; from < wire.length; ) {
      const isPacket = from + 8 <= wire.length && wire.readUInt32BE(from) === 0;
      const length = isPacket
        ? wire.readUInt32BE(from + 4) + 12
        : from + 2 <= wire.length
          ? 2 + wire.readUInt16BE(from)
          : 1;
      const to = Math.min(wire.length, from + Math.max(1, length));
      frames.push(wire.subarray(from, to));
      from = to;
    }
    return frames;
  },
  wrap: (plain) => plain,
  seal(plain) {
    if (plain.length < 15 || plain.readUInt32BE(0) !== 0) return plain;
    const sealed = Buffer.from(plain);
    const end = sealed.length - 4;
    sealed.writeUInt32BE(end - 8, 4);
    // The count of records stands at both ends; what changed one of them meant the other too.
    if (end > 10) sealed[end - 1] = sealed[9] as number;
    sealed.writeUInt32BE(crc16Arc(sealed, 8, end), end);
    return sealed;
  },
};

/** An opening byte, escapes, command, length, data, checksum. */
export const omnicommFraming: Framing = escaped({
  opening: 0xc0,
  closing: null,
  escape: 0xdb,
  escapes: new Map([
    [0xc0, 0xdc],
    [0xdb, 0xdd],
  ]),
  mend(plain) {
    if (plain.length < 5) return plain;
    const end = plain.length - 2;
    plain.writeUInt16LE(end - 3, 1);
    plain.writeUInt16LE(crc16CcittFalse(plain, 0, end), end);
    return plain;
  },
});

/** Flags, escapes, header with length, body, checksum. */
export const jt808Framing: Framing = escaped({
  opening: 0x7e,
  closing: 0x7e,
  escape: 0x7d,
  escapes: new Map([
    [0x7e, 0x02],
    [0x7d, 0x01],
  ]),
  mend(plain) {
    if (plain.length < 13) return plain;
    // The bits of the encryption are left as they are: one in many is tried.
    const properties = plain.readUInt16BE(2);
    const headerBytes = 4 + (properties & 0x4000 ? 11 : 6) + 2 + (properties & 0x2000 ? 4 : 0);
    const bodyBytes = Math.max(0, Math.min(0x3ff, plain.length - headerBytes - 1));
    plain.writeUInt16BE((properties & 0xfc00) | bodyBytes, 2);
    let checksum = 0;
    for (let i = 0; i < plain.length - 1; i++) checksum ^= plain[i] as number;
    plain[plain.length - 1] = checksum;
    return plain;
  },
});

/** Lines; the checksum of version 2 stands after the last separator. */
export const wialonFraming: Framing = {
  split: (wire) => pieces(wire, (at) => wire[at] === 0x0a),
  wrap: (plain) => plain,
  seal(plain) {
    const text = plain.toString('latin1');
    const found = /^(#[A-Z]*#)([\s\S]*[;|])[0-9A-Fa-f]{1,4}(\r?\n?)$/.exec(text);
    if (!found) return plain;
    const [, head = '', covered = '', end = ''] = found;
    const bytes = Buffer.from(covered, 'latin1');
    const checksum = crc16Arc(bytes, 0, bytes.length).toString(16).toUpperCase();
    return Buffer.from(`${head}${covered}${checksum}${end || '\r\n'}`, 'latin1');
  },
};

/** Start bits, length, content, serial number, checksum, stop bits. */
export const gt06Framing: Framing = {
  split(wire) {
    const frames: Buffer[] = [];
    for (let from = 0; from < wire.length; ) {
      const lengthBytes = wire[from] === 0x79 ? 2 : 1;
      const length = from + 2 + lengthBytes <= wire.length ? wire.readUIntBE(from + 2, lengthBytes) : 0;
      const to = Math.min(wire.length, from + 4 + lengthBytes + length);
      frames.push(wire.subarray(from, to));
      from = to;
    }
    return frames;
  },
  wrap: (plain) => plain,
  seal(plain) {
    const lengthBytes = plain[0] === 0x79 ? 2 : 1;
    const length = plain.length - 4 - lengthBytes;
    if (length < 5 || length >= 2 ** (8 * lengthBytes)) return plain;
    const sealed = Buffer.from(plain);
    sealed.writeUIntBE(length, 2, lengthBytes);
    sealed.writeUInt16BE(crc16X25(sealed, 2, sealed.length - 4), sealed.length - 4);
    sealed.write('\r\n', sealed.length - 2, 'latin1');
    return sealed;
  },
};

/** Length, content, checksum. */
export const ruptelaFraming: Framing = {
  split: (wire) => byLength(wire, (from) => (from + 2 <= wire.length ? 4 + wire.readUInt16BE(from) : 1)),
  wrap: (plain) => plain,
  seal(plain) {
    if (plain.length < 5) return plain;
    const sealed = Buffer.from(plain);
    const end = sealed.length - 2;
    sealed.writeUInt16BE(Math.min(0xffff, end - 2), 0);
    sealed.writeUInt16BE(crc16Kermit(sealed, 2, end), end);
    return sealed;
  },
};

/** Head, length, tags, checksum. */
export const galileoskyFraming: Framing = {
  split: (wire) => byLength(wire, (from) => (from + 3 <= wire.length ? 5 + (wire.readUInt16LE(from + 1) & 0x7fff) : 1)),
  wrap: (plain) => plain,
  seal(plain) {
    if (plain.length < 6) return plain;
    const sealed = Buffer.from(plain);
    const end = sealed.length - 2;
    sealed.writeUInt16LE(Math.min(0x7fff, end - 3), 1);
    sealed.writeUInt16LE(crc16Modbus(sealed, 0, end), end);
    return sealed;
  },
};

/** Header with a checksum of its own, data, checksum. */
export const egtsFraming: Framing = {
  split: (wire) => byLength(wire, (from) => (from + 7 <= wire.length ? 13 + wire.readUInt16LE(from + 5) : 1)),
  wrap: (plain) => plain,
  seal(plain) {
    if (plain.length < 14) return plain;
    const sealed = Buffer.from(plain);
    const end = sealed.length - 2;
    sealed[3] = 11;
    sealed.writeUInt16LE(Math.min(0xffff, end - 11), 5);
    sealed[10] = crc8(sealed, 0, 10);
    sealed.writeUInt16LE(crc16CcittFalse(sealed, 11, end), end);
    return sealed;
  },
};

/** Size, an id that a zero ends, blocks of sizes of their own. */
export const wialonRetranslatorFraming: Framing = {
  split: (wire) => byLength(wire, (from) => (from + 4 <= wire.length ? 4 + wire.readUInt32LE(from) : 1)),
  wrap: (plain) => plain,
  seal(plain) {
    if (plain.length < 13) return plain;
    const sealed = Buffer.from(plain);
    sealed.writeUInt32LE(sealed.length - 4);
    // Each block reaches to the next.
    const marks: number[] = [];
    for (let at = sealed.indexOf(BLOCK_MARK); at >= 0; at = sealed.indexOf(BLOCK_MARK, at + 2)) marks.push(at);
    for (const [index, at] of marks.entries()) {
      const end = marks[index + 1] ?? sealed.length;
      if (at + 6 <= end) sealed.writeUInt32BE(end - at - 6, at + 2);
    }
    return sealed;
  },
};

/** What the records of the simulator's fields take. */
const NAVTELECOM_RECORD_BYTES = 36;

/** Frames of NTCB with two checksums, packets of FLEX whose length follows from the fields that were agreed upon. */
export const navtelecomFraming: Framing = {
  split: (wire) =>
    byLength(wire, (from) => {
      if (from + 16 <= wire.length && wire[from] === 0x40) return 16 + wire.readUInt16LE(from + 12);
      if (from + 3 > wire.length || wire[from] !== 0x7e) return 1;
      return 4 + (wire[from + 2] as number) * NAVTELECOM_RECORD_BYTES;
    }),
  wrap: (plain) => plain,
  seal(plain) {
    const sealed = Buffer.from(plain);
    const end = sealed.length - 1;
    if (sealed[0] === 0x7e && end >= 3) {
      if (sealed[1] === 0x41) sealed[2] = Math.min(0xff, Math.floor((end - 3) / NAVTELECOM_RECORD_BYTES));
      sealed[end] = crc8(sealed, 0, end);
    }
    return sealed[0] === 0x40 && sealed.length >= 16
      ? buildNtcb(sealed.readUInt32LE(4), sealed.subarray(16), sealed.readUInt32LE(8))
      : sealed;
  },
};

/** Lines of text that a byte ends, without a checksum. */
export const linesFraming = (end: number): Framing => ({
  split: (wire) => pieces(wire, (at) => wire[at] === end),
  wrap: (plain) => plain,
  seal: (plain) => plain,
});

/** Text with its length before it and the sum of its bytes behind it. */
export const meitrackFraming: Framing = {
  split: (wire) => pieces(wire, (at) => wire[at] === 0x0a),
  wrap: (plain) => plain,
  seal(plain) {
    const found = /^\$\$([^,]?)\d*,([\s\S]*)\*[0-9A-Fa-f]{0,2}\r?\n?$/.exec(plain.toString('latin1'));
    return found ? buildPacket('$$', found[1] || 'A', found[2] ?? '') : plain;
  },
};

const isOfRecords = (bytes: Buffer, at: number) =>
  (bytes[at] === 0x2b || bytes[at] === 0x2d) && (bytes[at + 1] === 0x00 || bytes[at + 1] === 0x10);
/** Kinds of HEX messages, and where the length of each stands. */
const HEX_LENGTHS: Readonly<Record<string, readonly [at: number, bytes: 1 | 2]>> = {
  '+RSP': [9, 2],
  '+EVT': [9, 2],
  '+HBD': [5, 1],
  '+ACK': [6, 1],
};
const hexLength = (bytes: Buffer, from: number) =>
  bytes[from + 4] === 0x3a ? undefined : HEX_LENGTHS[bytes.toString('latin1', from, from + 4)];

/** Lines of text that a dollar sign ends; messages in HEX; frames of records. */
export const queclinkFraming: Framing = {
  split: (wire) =>
    byLength(wire, (from) => {
      if (isOfRecords(wire, from) && from + 4 <= wire.length)
        return wire[from + 1] === 0x10 ? (wire[from + 2] as number) : wire.readUInt16BE(from + 2);
      const [at, bytes] = hexLength(wire, from) ?? [0, 0];
      if (bytes > 0 && from + at + bytes <= wire.length) return wire.readUIntBE(from + at, bytes);
      const end = wire.indexOf(0x24, from);
      return end === -1 ? wire.length - from : end + 1 - from;
    }),
  wrap: (plain) => plain,
  seal(plain) {
    const sealed = Buffer.from(plain);
    const end = sealed.length;
    if (isOfRecords(sealed, 0) && end >= 6) {
      if (sealed[1] === 0x10) sealed[2] = end & 0xff;
      else sealed.writeUInt16BE(end & 0xffff, 2);
      sealed[end - 1] = 0x24;
      sealed[end - 2] = crc8(sealed, 0, end - 2);
    }
    const length = hexLength(sealed, 0);
    if (length === undefined || end < 16) return sealed;
    const [at, bytes] = length;
    sealed.writeUIntBE(end & (bytes === 1 ? 0xff : 0xffff), at, bytes);
    sealed.write('\r\n', end - 2, 'latin1');
    sealed.writeUInt16BE(crc16CcittFalse(sealed, 4, end - 4), end - 4);
    return sealed;
  },
};

const STREAM_MAGIC = Buffer.from('01cd', 'latin1');

/** Packets of a stream of JT/T 1078: a magic, a header that ends with the length, the payload. */
export const jt1078Framing: Framing = {
  split(wire) {
    const frames: Buffer[] = [];
    for (let from = 0; from < wire.length; ) {
      const next = wire.indexOf(STREAM_MAGIC, from + 1);
      const to = next === -1 ? wire.length : next;
      frames.push(wire.subarray(from, to));
      from = to;
    }
    return frames;
  },
  wrap: (plain) => plain,
  seal(plain) {
    // By the shorter form of the phone number, as the seeds are.
    if (plain.length < 18) return plain;
    const kind = (plain[15] as number) >> 4;
    const lengthAt = 16 + (kind === 4 ? 0 : 8) + (kind <= 2 ? 4 : 0);
    if (plain.length < lengthAt + 2) return plain;
    const sealed = Buffer.from(plain);
    sealed.writeUInt16BE((sealed.length - lengthAt - 2) & 0xffff, lengthAt);
    return sealed;
  },
};

interface Escaping {
  opening: number;
  closing: number | null;
  escape: number;
  /** What a byte of the content is written as, behind the escape. */
  escapes: ReadonlyMap<number, number>;
  mend(plain: Buffer): Buffer;
}

function escaped({ opening, closing, escape: escaping, escapes, mend }: Escaping): Framing {
  const meanings = new Map([...escapes].map(([byte, written]) => [written, byte]));
  const wrap = (plain: Buffer): Buffer => {
    const wire = [opening];
    for (const byte of plain) {
      const written = escapes.get(byte);
      if (written === undefined) wire.push(byte);
      else wire.push(escaping, written);
    }
    if (closing !== null) wire.push(closing);
    return Buffer.from(wire);
  };
  return {
    split(wire) {
      const frames: Buffer[] = [];
      let plain: number[] = [];
      const flush = (): void => {
        if (plain.length > 0) frames.push(Buffer.from(plain));
        plain = [];
      };
      for (let i = 0; i < wire.length; i++) {
        const byte = wire[i] as number;
        if (byte === opening) flush();
        else if (byte === escaping) plain.push(meanings.get(wire[++i] ?? -1) ?? escaping);
        else plain.push(byte);
      }
      flush();
      return frames;
    },
    wrap,
    seal: (plain) => wrap(mend(Buffer.from(plain))),
  };
}

/** Frames whose length can be read from their head. */
function byLength(wire: Buffer, lengthAt: (from: number) => number): Buffer[] {
  const frames: Buffer[] = [];
  for (let from = 0; from < wire.length; ) {
    const to = Math.min(wire.length, from + Math.max(1, lengthAt(from)));
    frames.push(wire.subarray(from, to));
    from = to;
  }
  return frames;
}

function pieces(wire: Buffer, isLast: (at: number) => boolean): Buffer[] {
  const found: Buffer[] = [];
  let from = 0;
  for (let at = 0; at < wire.length; at++)
    if (isLast(at) || at === wire.length - 1) {
      found.push(wire.subarray(from, at + 1));
      from = at + 1;
    }
  return found;
}
