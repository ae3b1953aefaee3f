/** Texts of JT/T 808 are in the Chinese encoding that has ASCII in it. */
const gbk = new TextDecoder('gbk');

/** The text of a field that is filled up with zeros or spaces, without control characters. */
export function readText(bytes: Buffer, from: number, to: number): string {
  return gbk
    .decode(bytes.subarray(from, to))
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
}
