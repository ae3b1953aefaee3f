/** Texts of JT/T 808 are in GBK, a superset of ASCII. */
const gbk = new TextDecoder('gbk');

/** Reads a text field without its padding of zeros or spaces and without control characters. */
export function readText(bytes: Buffer, from: number, to: number): string {
  return gbk
    .decode(bytes.subarray(from, to))
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
}
