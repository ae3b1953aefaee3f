/** The 256 table entries of a CRC that processes the lowest bit first. */
function reflectedTable(polynomial: number): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    table[byte] = crc;
  }
  return table;
}

/** The 256 table entries of a CRC that processes the highest bit first. */
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
 * CRC-16/ARC, called CRC-16/IBM in Teltonika's wiki and CRC16 in Gurtam's Wialon IPS: polynomial 0x8005, reflected,
 * initial value 0.
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
 * CRC-16/CCITT-FALSE, used by Omnicomm: polynomial 0x1021, initial value 0xFFFF.
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
 * CRC-16/X-25, called CRC-ITU in GT06 documents: polynomial 0x1021, reflected, initial value 0xFFFF, inverted at the
 * end.
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
 * CRC-16/KERMIT, called CRC-CCITT by Ruptela: polynomial 0x1021, reflected, initial value 0.
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
 * CRC-16/MODBUS, used by Galileosky: CRC-16/ARC with initial value 0xFFFF.
 *
 * @param from offset of the first byte
 * @param to offset after the last byte
 */
export function crc16Modbus(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffff;
  for (let i = from; i < to; i++) crc = (crc >>> 8) ^ (ARC[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return crc;
}
