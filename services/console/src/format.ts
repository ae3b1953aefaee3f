import { preferences } from './preferences.ts';
import { language, withRegion } from './words/words.ts';

const KM_PER_MILE = 1.609344;
const LITRES_PER_GALLON = 3.785411784;

export interface Locale {
  language: string;
  units: 'metric' | 'imperial';
  /** IANA name; undefined: the device's. */
  timeZone: string | undefined;
}

/** Formats values for the reader: language, units and time zone. An unknown value is a dash. */
export class Formats {
  readonly #locale: Locale;
  readonly #made = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

  constructor(locale: Locale) {
    this.#locale = locale;
  }

  number(value: number | null | undefined, digits = 0): string {
    if (value === null || value === undefined) return '–';
    return this.#number({ maximumFractionDigits: digits }).format(value);
  }

  speed(kmh: number | null | undefined): string {
    if (kmh === null || kmh === undefined) return '–';
    const isMetric = this.#locale.units === 'metric';
    return this.#unit(isMetric ? 'kilometer-per-hour' : 'mile-per-hour', 0).format(isMetric ? kmh : kmh / KM_PER_MILE);
  }

  distance(metres: number | null | undefined): string {
    if (metres === null || metres === undefined) return '–';
    if (this.#locale.units === 'imperial') {
      const miles = metres / 1000 / KM_PER_MILE;
      return this.#unit('mile', miles < 10 ? 1 : 0).format(miles);
    }
    if (metres < 1000) return this.#unit('meter', 0).format(Math.round(metres));
    return this.#unit('kilometer', metres < 100_000 ? 1 : 0).format(metres / 1000);
  }

  /** Metres or feet above sea level. */
  height(metres: number): string {
    const isMetric = this.#locale.units === 'metric';
    return this.#unit(isMetric ? 'meter' : 'foot', 0).format(isMetric ? metres : metres / 0.3048);
  }

  volume(litres: number | null | undefined): string {
    if (litres === null || litres === undefined) return '–';
    const isMetric = this.#locale.units === 'metric';
    return this.#unit(isMetric ? 'liter' : 'gallon', 1).format(isMetric ? litres : litres / LITRES_PER_GALLON);
  }

  voltage(volts: number | null | undefined): string {
    return volts === null || volts === undefined ? '–' : `${this.number(volts, 1)} V`;
  }

  area(squareMetres: number): string {
    const isMetric = this.#locale.units === 'metric';
    const value = squareMetres / 1e6 / (isMetric ? 1 : KM_PER_MILE ** 2);
    return `${this.number(value, value < 1 ? 3 : 1)} ${isMetric ? 'km²' : 'mi²'}`;
  }

  /** Size in the largest decimal unit that fits, as disks are sold. */
  bytes(count: number | null | undefined): string {
    if (count === null || count === undefined) return '–';
    // Omits the unit byte, whose short name has no plural: "0 byte".
    const units = ['kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
    const step = Math.min(units.length, Math.max(1, Math.floor(Math.log10(Math.max(1, count)) / 3)));
    const value = count / 1000 ** step;
    return this.#unit(units[step - 1] as string, value < 10 ? 1 : 0).format(value);
  }

  coordinates(latitude: number, longitude: number): string {
    return `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
  }

  milliseconds(ms: number): string {
    return this.#unit('millisecond', 0).format(ms);
  }

  /** Hours and minutes; seconds below a minute. */
  duration(seconds: number | null | undefined): string {
    if (seconds === null || seconds === undefined) return '–';
    if (seconds < 60) return this.#unit('second', 0).format(Math.round(seconds));
    const minutes = Math.round(seconds / 60);
    if (minutes < 60) return this.#unit('minute', 0).format(minutes);
    const hours = Math.floor(minutes / 60);
    const whole = this.#unit('hour', 0).format(hours);
    return minutes % 60 === 0 ? whole : `${whole} ${this.#unit('minute', 0).format(minutes % 60)}`;
  }

  /** Age in the largest unit that fits. */
  ago(seconds: number): string {
    const relative = this.#relative();
    const past = Math.max(0, seconds);
    if (past < 60) return relative.format(-Math.floor(past), 'second');
    if (past < 3600) return relative.format(-Math.floor(past / 60), 'minute');
    if (past < 86_400) return relative.format(-Math.floor(past / 3600), 'hour');
    return relative.format(-Math.floor(past / 86_400), 'day');
  }

  time(at: Date | number | string): string {
    return this.#date({ hour: '2-digit', minute: '2-digit' }).format(new Date(at));
  }

  timeWithSeconds(at: Date | number | string): string {
    return this.#date({ hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(new Date(at));
  }

  dateTime(at: Date | number | string): string {
    return this.#date({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(at));
  }

  dateTimeWithSeconds(at: Date | number | string): string {
    return this.#date({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at));
  }

  /** A time range, to the second. A date that both ends share is shown once. */
  interval(fromMs: number, toMs: number): string {
    return this.#date({ dateStyle: 'medium', timeStyle: 'medium' }).formatRange(fromMs, toMs);
  }

  date(at: Date | number | string): string {
    return this.#date({ dateStyle: 'medium' }).format(new Date(at));
  }

  /** A date without a time: `2026-01-31`. */
  calendarDate(date: string): string {
    const key = 'calendarDate';
    const known = this.#made.get(key) as Intl.DateTimeFormat | undefined;
    const made = known ?? new Intl.DateTimeFormat(this.#locale.language, { dateStyle: 'medium', timeZone: 'UTC' });
    this.#made.set(key, made);
    return made.format(new Date(`${date}T12:00:00Z`));
  }

  /** Short name of a weekday: 0 is Monday. */
  weekday(day: number): string {
    // The first of January 2024 was a Monday.
    const date = new Date(Date.UTC(2024, 0, 1 + day, 12));
    return new Intl.DateTimeFormat(this.#locale.language, { weekday: 'short', timeZone: 'UTC' }).format(date);
  }

  /** The time if it was today, otherwise the date and time. */
  moment(at: Date | number | string, now: Date = new Date()): string {
    const day = this.#date({ dateStyle: 'short' });
    return day.format(new Date(at)) === day.format(now) ? this.time(at) : this.dateTime(at);
  }

  #unit(unit: string, digits: number): Intl.NumberFormat {
    const unitDisplay = unit === 'mile-per-hour' || unit === 'gallon' ? 'narrow' : 'short';
    return this.#number({ style: 'unit', unit, unitDisplay, maximumFractionDigits: digits });
  }

  #number(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const key = `n${JSON.stringify(options)}`;
    const known = this.#made.get(key) as Intl.NumberFormat | undefined;
    if (known) return known;
    const made = new Intl.NumberFormat(this.#locale.language, options);
    this.#made.set(key, made);
    return made;
  }

  #date(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    const key = `d${JSON.stringify(options)}`;
    const known = this.#made.get(key) as Intl.DateTimeFormat | undefined;
    if (known) return known;
    const { language: tag, timeZone } = this.#locale;
    const made = new Intl.DateTimeFormat(tag, { ...options, ...(timeZone === undefined ? {} : { timeZone }) });
    this.#made.set(key, made);
    return made;
  }

  #relative(): Intl.RelativeTimeFormat {
    return new Intl.RelativeTimeFormat(this.#locale.language, { numeric: 'always', style: 'short' });
  }
}

let current: { key: string; formats: Formats } | null = null;

/** The reader's formats. A component that calls this is rendered again when language or preferences change. */
export function formats(): Formats {
  const { units, timeZone } = preferences.value;
  const tag = withRegion(language.value, navigator.languages);
  const locale = { language: tag, units, timeZone: timeZone ?? undefined };
  const key = JSON.stringify(locale);
  if (current?.key !== key) current = { key, formats: new Formats(locale) };
  return current.formats;
}
