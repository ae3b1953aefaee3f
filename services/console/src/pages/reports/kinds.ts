import type { ReportKind } from '@outrider/client';
import { spaced } from '@outrider/words/spaced';
import { signal } from '@preact/signals';
import { formats } from '../../format.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { type Dimension, DURATIONS, type ReportColumn, type Row } from './rows.ts';
import { reportWords } from './words.ts';

/** Descriptions of the kinds of report, from the API. Null: not loaded yet. */
export const kinds = signal<readonly ReportKind[] | null>(null);

export async function loadKinds(): Promise<void> {
  if (kinds.peek() === null) kinds.value = (await api.get('/api/v1/reports')).items;
}

/** Title of a kind; its name if the page has no text for it. */
export function titleOfKind(kind: string): string {
  return reportWords().kinds[kind] ?? spaced(kind);
}

export function summaryOfKind({ kind, summary }: ReportKind): string {
  return reportWords().summaries[kind] ?? summary;
}

export function titleOfColumn(name: string): string {
  return reportWords().columns[name] ?? spaced(name.replace(/(Seconds|Kmh|Deg|M|L|V|At)$/, ''));
}

/** A cell as readable text. */
export function textOf({ name, type, unit }: ReportColumn, row: Row): string {
  const value = row[name];
  if (value === null || value === undefined || value === '') return '–';
  const format = formats();
  if (typeof value === 'number') return quantity(name, unit, value);
  if (typeof value === 'boolean') return value ? reportWords().yes : reportWords().no;
  if (typeof value === 'object')
    return Array.isArray(value) ? value.map((one) => wordOf(name, one)).join(', ') : JSON.stringify(value);
  const text = String(value);
  // Positions are seconds apart, so their times need seconds.
  if (name === 'fixTime') return format.dateTimeWithSeconds(text);
  if (type === 'time') return format.dateTime(text);
  if (type === 'day') return format.calendarDate(text);
  return CLOSED.has(name)
    ? text
        .split('|')
        .map((one) => wordOf(name, one))
        .join(', ')
    : text;
}
/** Columns whose values come from a fixed list. */
const CLOSED = new Set([
  'state',
  'kind',
  'phase',
  'origin',
  'part',
  'limitSource',
  'endReason',
  'alarm',
  'alarms',
  'rejection',
  'sensorKind',
]);

export function quantity(name: string, unit: ReportColumn['unit'], value: number): string {
  const format = formats();
  switch (unit) {
    case 's':
      return format.duration(value);
    case 'm':
      return format.distance(value);
    case 'km/h':
      return format.speed(value);
    case 'l':
      return format.volume(value);
    case 'V':
      return format.voltage(value);
    case 'ratio':
      return `${format.number(value * 100, 1)} %`;
    case 'deg':
      return /itude$/.test(name) ? value.toFixed(5) : `${format.number(value)}°`;
    default:
      return name === 'hour' ? hourText(value) : format.number(value, 1);
  }
}

export function hourText(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}

function wordOf(column: string, value: unknown): string {
  const name = String(value);
  const states: Record<string, string> = t().states;
  if (column === 'state') return states[name] ?? spaced(name);
  return reportWords().values[name] ?? t().events[name] ?? spaced(name);
}

/** The name of a group of rows; null: rows without a value. */
export function groupText(grouping: string | undefined, key: string | null): string {
  if (key === null) return grouping === 'driver' ? reportWords().noDriver : '–';
  if (grouping === 'day') return formats().calendarDate(key);
  return grouping === 'kind' ? wordOf('kind', key) : key;
}

/** Label of a bar. */
export function sliceText(dimension: Dimension, key: string): string {
  const format = formats();
  if (dimension === 'hour') return hourText(Number(key));
  if (dimension === 'day' || dimension === 'period') return format.calendarDate(key);
  if (dimension === 'kind') return wordOf('kind', key);
  if (dimension !== 'duration') return key;
  const nth = Number(key);
  const end = DURATIONS[nth] ?? 0;
  return Number.isFinite(end) ? `< ${format.duration(end)}` : `≥ ${format.duration(DURATIONS[nth - 1])}`;
}
