import { type Language, type Names, spaced } from '@outrider/words';
import { type Column, unitOf, type Value } from '../../report.ts';
import type { Reading } from '../format.ts';

/** English dates as they are written in most countries. */
const LOCALES: Partial<Record<Language, string>> = { en: 'en-GB' };
const KM_PER_MILE = 1.609344;
const LITRES_PER_GALLON = 3.785411784;
/** Columns with enumerated values. */
const CLOSED = /^(?:state|kind|phase|origin|part|limitSource|endReason|alarms?|rejection)$/;

/** Formats values for people. */
export class Readable {
  readonly #names: Names;
  readonly #isMetric: boolean;
  readonly #locale: string;
  readonly #time: Intl.DateTimeFormat;
  readonly #day: Intl.DateTimeFormat;
  readonly #shortDay: Intl.DateTimeFormat;
  readonly #yes: string;
  readonly #no: string;
  readonly #made = new Map<string, Intl.NumberFormat>();

  constructor(
    { language, units }: Pick<Reading, 'language' | 'units'>,
    timeZone: string,
    names: Names,
    { yes, no }: { yes: string; no: string },
  ) {
    this.#names = names;
    this.#isMetric = units === 'metric';
    this.#locale = LOCALES[language] ?? language;
    this.#time = new Intl.DateTimeFormat(this.#locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
    this.#day = new Intl.DateTimeFormat(this.#locale, { dateStyle: 'medium', timeZone: 'UTC' });
    this.#shortDay = new Intl.DateTimeFormat(this.#locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
    this.#yes = yes;
    this.#no = no;
  }

  title(column: string): string {
    return this.#names.columns[column] ?? spaced(column.replace(/(Seconds|Kmh|Deg|M|L|V|At)$/, ''));
  }

  report(kind: string): string {
    return this.#names.reports[kind] ?? spaced(kind);
  }

  /** Unix milliseconds. */
  time(ms: number): string {
    return this.#time.format(ms);
  }

  /** A date as `2026-01-31`. */
  day(day: string): string {
    return this.#day.format(Date.parse(`${day}T12:00:00Z`));
  }

  /** The same without its year. */
  shortDay(day: string): string {
    return this.#shortDay.format(Date.parse(`${day}T12:00:00Z`));
  }

  value(column: Column, value: Value): string {
    const { name, type } = column;
    if (value === null || value === '') return '–';
    if (typeof value === 'number') return type === 'time' ? this.time(value) : this.quantity(column, value);
    if (typeof value === 'boolean') return value ? this.#yes : this.#no;
    if (typeof value === 'object')
      return Array.isArray(value) ? value.map((one) => this.word(name, String(one))).join(', ') : JSON.stringify(value);
    if (type === 'day') return this.day(value);
    return CLOSED.test(name)
      ? value
          .split('|')
          .map((one) => this.word(name, one))
          .join(', ')
      : value;
  }

  /** Text of an enumerated value. */
  word(column: string, value: string): string {
    const states: Readonly<Record<string, string>> = this.#names.states;
    if (column === 'state') return states[value] ?? spaced(value);
    return this.#names.values[value] ?? this.#names.events[value] ?? spaced(value);
  }

  quantity(column: Pick<Column, 'name' | 'type'>, value: number): string {
    switch (unitOf(column)) {
      case 's':
        return this.#duration(value);
      case 'm':
        return this.#distance(value);
      case 'km/h':
        return this.#isMetric
          ? this.#unit('kilometer-per-hour', value)
          : this.#unit('mile-per-hour', value / KM_PER_MILE);
      case 'l':
        return this.#isMetric ? this.#unit('liter', value, 1) : this.#unit('gallon', value / LITRES_PER_GALLON, 1);
      case 'V':
        return `${this.number(value, 1)} V`;
      case 'ratio':
        return `${this.number(value * 100, 1)} %`;
      case 'deg':
        return /itude$/.test(column.name) ? value.toFixed(5) : `${this.number(value)}°`;
      case null:
        return column.name === 'hour' ? `${String(value).padStart(2, '0')}:00` : this.number(value, 1);
      default:
        return `${this.number(value, 2)} ${String(unitOf(column))}`;
    }
  }

  number(value: number, digits = 0): string {
    return this.#number({ maximumFractionDigits: digits }).format(value);
  }

  /** Hours and minutes, as `12:05`; hours may be many. */
  #duration(seconds: number): string {
    const minutes = Math.round(seconds / 60);
    return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  }

  #distance(metres: number): string {
    if (!this.#isMetric) return this.#unit('mile', metres / 1000 / KM_PER_MILE, 1);
    return this.#unit('kilometer', metres / 1000, metres < 100_000 ? 1 : 0);
  }

  #unit(unit: string, value: number, digits = 0): string {
    const unitDisplay = unit === 'gallon' ? 'narrow' : 'short';
    return this.#number({ style: 'unit', unit, unitDisplay, maximumFractionDigits: digits }).format(value);
  }

  #number(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const key = JSON.stringify(options);
    const known = this.#made.get(key) ?? new Intl.NumberFormat(this.#locale, options);
    this.#made.set(key, known);
    return known;
  }
}
