/** CRC-8, used by EGTS and Navtelecom: polynomial 0x31, highest bit first, initial value 0xFF. */
export function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xff;
  for (let i = from; i < to; i += 1) {
    crc ^= bytes[i] as number;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 0x31) & 0xff : (crc << 1) & 0xff;
  }
  return crc;
}
