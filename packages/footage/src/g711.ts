/** G.711 has 8000 samples a second. */
export const G711_SAMPLE_RATE = 8000;

export type G711Law = 'g711a' | 'g711u';

const TABLES: Readonly<Record<G711Law, Int16Array>> = {
  g711a: Int16Array.from({ length: 256 }, (_, code) => aLawValue(code)),
  g711u: Int16Array.from({ length: 256 }, (_, code) => muLawValue(code)),
};

/**
 * Decodes G.711 (ITU-T G.711, tables 1 and 2) to 16-bit samples, low byte first. Each code has a value of its own, so
 * nothing is lost, and an encoder gives the same codes again. The chips of one maker put four bytes in front of each
 * frame that are no sound: `00 01`, the length of the rest in words, `00`. They are left out.
 */
export function expandG711(law: G711Law, codes: Uint8Array): Buffer {
  const from = hasChipHeader(codes) ? 4 : 0;
  const table = TABLES[law];
  const bytes = Buffer.allocUnsafe(2 * (codes.length - from));
  for (let i = from; i < codes.length; i++) bytes.writeInt16LE(table[codes[i] as number] as number, 2 * (i - from));
  return bytes;
}

function hasChipHeader(codes: Uint8Array): boolean {
  return (
    codes.length > 4 &&
    codes[0] === 0 &&
    codes[1] === 1 &&
    codes[3] === 0 &&
    2 * (codes[2] as number) === codes.length - 4
  );
}

/** Value of an A-law code: 13 bits of the table, scaled to 16. */
function aLawValue(code: number): number {
  const plain = code ^ 0x55;
  const exponent = (plain >> 4) & 7;
  const mantissa = ((plain & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return plain & 0x80 ? magnitude : -magnitude;
}

/** Value of a μ-law code: 14 bits of the table, scaled to 16. */
function muLawValue(code: number): number {
  const plain = ~code & 0xff;
  const magnitude = ((((plain & 0x0f) << 3) + 0x84) << ((plain >> 4) & 7)) - 0x84;
  return plain & 0x80 ? -magnitude : magnitude;
}
