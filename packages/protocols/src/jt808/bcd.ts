/** JT/T 808 writes all times in China Standard Time, which has no daylight saving time: UTC+8. */
export const CLOCK_OFFSET_MS = 8 * 3600 * 1000;

/** Length of a time: year, month, day, hour, minute, second. */
export const TIME_BYTES = 6;

/** The value of a byte with two decimal digits; NaN where either is not a digit. */
function twoDigits(byte: number): number {
  const high = byte >> 4;
  const low = byte & 0x0f;
  return high > 9 || low > 9 ? Number.NaN : high * 10 + low;
}

/**
 * Reads a time `YYMMDDhhmmss`, two digits a byte, in UTC+8.
 *
 * @returns Unix milliseconds; null for an invalid time (terminals without a time send zeros)
 */
export function readTime(bytes: Uint8Array, at: number): number | null {
  const parts: number[] = [];
  for (let i = 0; i < TIME_BYTES; i++) parts.push(twoDigits(bytes[at + i] ?? 0xff));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const timeMs = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  if (Number.isNaN(timeMs)) return null;
  const date = new Date(timeMs);
  // The date rolled over: 31 June or hour 25, for example.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || date.getUTCHours() !== hour) return null;
  if (date.getUTCMinutes() !== minute || date.getUTCSeconds() !== second) return null;
  return timeMs - CLOCK_OFFSET_MS;
}

/**
 * Encodes a time as six bytes of two digits each, in UTC+8, truncated to seconds. A null time is six zeros.
 *
 * @throws {RangeError} when the year is not one of 2000 to 2099
 */
export function timeBytes(timeMs: number | null): Buffer {
  const bytes = Buffer.alloc(TIME_BYTES);
  if (timeMs === null) return bytes;
  const date = new Date(Math.floor(timeMs / 1000) * 1000 + CLOCK_OFFSET_MS);
  const year = date.getUTCFullYear();
  if (!(year >= 2000 && year <= 2099)) throw new RangeError(`no two digits for the year of ${timeMs}`);
  const parts = [
    year - 2000,
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ];
  parts.forEach((part, i) => {
    bytes[i] = Math.floor(part / 10) * 16 + (part % 10);
  });
  return bytes;
}

/**
 * Reads a phone number, two digits a byte.
 *
 * @returns its digits without leading zeros, so that the 12 digits of 2013 and the 20 of 2019 name the same terminal;
 *   null where it is not one
 */
export function readPhone(bytes: Uint8Array, from: number, to: number): string | null {
  let digits = '';
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0xff;
    const high = byte >> 4;
    const low = byte & 0x0f;
    if (high > 9 || low > 9) return null;
    if (digits !== '' || high !== 0) digits += high;
    if (digits !== '' || low !== 0) digits += low;
  }
  return digits === '' ? null : digits;
}

/**
 * Reads the bytes of the phone number without validation: many makers fill them with another number of the terminal.
 *
 * @returns hexadecimal digits in lower case without leading zeros; `0` where all bytes are zero
 */
export function readTerminalNumber(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('hex', from, to).replace(/^0+(?=.)/, '');
}

/**
 * Encodes a terminal's number as `length` bytes of two digits each, padded with zeros in front.
 *
 * @throws {TypeError} when it has other characters than hexadecimal digits, or too many of them
 */
export function terminalNumberBytes(number: string, length: number): Buffer {
  if (!/^[\da-f]+$/i.test(number) || number.length > 2 * length)
    throw new TypeError(`a terminal's number has ${2 * length} hexadecimal digits at most, not ${number}`);
  return Buffer.from(number.padStart(2 * length, '0'), 'hex');
}
