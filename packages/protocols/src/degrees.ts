import { KMH_PER_UNIT } from '@outrider/domain';

const NEGATIVE = new Set(['S', 'W']);

/** Degrees of `DDMM.mmmm` and a hemisphere, as NMEA writes them; NaN for anything else. */
export function degreesOfNmea(text: string, hemisphere: string): number {
  if (!/^\d{3,5}(\.\d{1,8})?$/.test(text) || !/^[NSEW]$/.test(hemisphere)) return Number.NaN;
  const number = Number(text);
  const whole = Math.floor(number / 100);
  const minutes = number - whole * 100;
  const degrees = whole + minutes / 60;
  const limit = hemisphere === 'N' || hemisphere === 'S' ? 90 : 180;
  if (minutes >= 60 || degrees > limit) return Number.NaN;
  return NEGATIVE.has(hemisphere) ? -degrees + 0 : degrees;
}

/** Formats a latitude as `DDMM.mmmm` and a longitude as `DDDMM.mmmm`, each with its hemisphere. */
export function nmeaOfDegrees(degrees: number, axis: 'latitude' | 'longitude', digits = 4): [string, string] {
  const scale = 10 ** digits;
  const steps = Math.round(Math.abs(degrees) * 60 * scale);
  const whole = Math.floor(steps / (60 * scale));
  const minutes = ((steps - whole * 60 * scale) / scale).toFixed(digits).padStart(3 + digits, '0');
  const isNegative = degrees < 0;
  const hemisphere = axis === 'latitude' ? (isNegative ? 'S' : 'N') : isNegative ? 'W' : 'E';
  return [`${String(whole).padStart(axis === 'latitude' ? 2 : 3, '0')}${minutes}`, hemisphere];
}

export const KMH_PER_KNOT = KMH_PER_UNIT.knots;

/** Speed in km/h, rounded to tenths, from a text in knots; null where the text is not a number. */
export function kmhOfKnots(text: string | undefined): number | null {
  const knots = decimalOrNull(text);
  return knots === null ? null : Math.round(knots * KMH_PER_KNOT * 10) / 10;
}

/** Parses a decimal number; NaN for anything else, such as `1e3` or an empty text. */
export function decimal(text: string): number {
  return /^[+-]?\d{1,12}(\.\d{0,9})?$/.test(text) ? Number(text) : Number.NaN;
}

/** Parses a decimal number; null where the field is empty or is not a number. */
export function decimalOrNull(text: string | undefined): number | null {
  const value = decimal(text ?? '');
  return Number.isNaN(value) ? null : value;
}

/** A course within 0 to 359 degrees; null for anything else. */
export function courseOf(degrees: number | null): number | null {
  if (degrees === null || !(degrees >= 0 && degrees <= 360)) return null;
  return Math.round(degrees) % 360;
}
