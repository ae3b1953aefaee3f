/** The 256 remainders of a CRC whose bits come lowest first. */
function reflectedTable(polynomial: number): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    table[byte] = crc;
  }
  return table;
}

/** The 256 remainders of a CRC whose bits come highest first. */
function forwardTable(polynomial: number): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ polynomial : crc << 1;
    table[byte] = crc;
  }
  return table;
}

const ARC = reflectedTable(0xa001);
const X25 = reflectedTable(0x8408);
const CCITT = forwardTable(0x1021);

/**
 * CRC-16/ARC, which Teltonika's wiki calls CRC-16/IBM and Gurtam's Wialon IPS plain CRC16: polynomial 0x8005,
 * reflected, beginning with 0.
 *
 * @param from offset of the first byte
 * @param to offset after the last byte
 */
export function crc16Arc(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let i = from; i < to; i++) crc = (crc >>> 8) ^ (ARC[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}

/**
 * CRC-16/CCITT-FALSE, of Omnicomm: polynomial 0x1021, beginning with 0xFFFF.
 *
 * @param from offset of the first byte
 * @param to offset after the last byte
 */
export function crc16CcittFalse(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffff;
  for (let i = from; i < to; i++)
    crc = ((crc << 8) & 0xffff) ^ (CCITT[((crc >>> 8) ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}

/**
 * CRC-16/X-25, which GT06 documents call CRC-ITU: polynomial 0x1021, reflected, beginning with 0xFFFF and inverted at
 * the end.
 *
 * @param from offset of the first byte
 * @param to offset after the last byte
 */
export function crc16X25(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffff;
  for (let i = from; i < to; i++) crc = (crc >>> 8) ^ (X25[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc ^ 0xffff;
}

/**
 * CRC-16/KERMIT, which Ruptela calls CRC-CCITT: polynomial 0x1021, reflected, beginning with 0.
 *
 * @param from offset of the first byte
 * @param to offset after the last byte
 */
export function crc16Kermit(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let i = from; i < to; i++) crc = (crc >>> 8) ^ (X25[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}

/**
 * CRC-16/MODBUS, of Galileosky: as CRC-16/ARC, beginning with 0xFFFF.
 *
 * @param from offset of the first byte
 * @param to offset after the last byte
 */
export function crc16Modbus(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffff;
  for (let i = from; i < to; i++) crc = (crc >>> 8) ^ (ARC[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}
