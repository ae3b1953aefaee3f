import { crc16Arc, crc16CcittFalse, crc16X25 } from '../../packages/protocols/src/crc16.ts';
import type { Framing } from './target.ts';

/*
 * Frames of the protocols as mutation needs them: written apart from the codecs, and more lenient, as what was mutated
 * once is split again.
 */

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
