import { addDays, dateOf, dayStart, timeIn, timeOfClock, weekStart } from './days.ts';

export const PRESETS = [
  'today',
  'yesterday',
  'last7days',
  'thisWeek',
  'lastWeek',
  'thisMonth',
  'lastMonth',
  'last30days',
] as const;
export type Preset = (typeof PRESETS)[number];

/** A time range: the start is included, the end is not. */
export interface TimeRange {
  /** Null: chosen manually. */
  preset: Preset | null;
  fromMs: number;
  toMs: number;
}

/** Parses `range=lastWeek`, or `from` and `to` in ISO 8601, of the address. Anything invalid gives the fallback. */
export function timeRangeOf(
  query: URLSearchParams,
  fallback: Preset,
  timeZone: string | null,
  nowMs: number = Date.now(),
): TimeRange {
  const preset = query.get('range');
  if (preset !== null && isPreset(preset)) return presetRange(preset, timeZone, nowMs);
  const [fromMs, toMs] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')];
  if (fromMs < toMs) return { preset: null, fromMs, toMs };
  return presetRange(fallback, timeZone, nowMs);
}

/** Parameters of the address for a range; the unused ones are removed. */
export function queryOfRange(range: TimeRange): Record<'range' | 'from' | 'to', string | null> {
  if (range.preset !== null) return { range: range.preset, from: null, to: null };
  return { range: null, from: new Date(range.fromMs).toISOString(), to: new Date(range.toMs).toISOString() };
}

function isPreset(text: string): text is Preset {
  return (PRESETS as readonly string[]).includes(text);
}

/** Whole days of the zone, including today until its end. */
export function presetRange(preset: Preset, timeZone: string | null, nowMs: number): TimeRange {
  const today = dateOf(nowMs, timeZone);
  const monday = weekStart(today);
  const first = `${today.slice(0, 7)}-01`;
  const dates: Record<Preset, [string, string]> = {
    today: [today, addDays(today, 1)],
    yesterday: [addDays(today, -1), today],
    last7days: [addDays(today, -6), addDays(today, 1)],
    thisWeek: [monday, addDays(monday, 7)],
    lastWeek: [addDays(monday, -7), monday],
    thisMonth: [first, monthAfter(first)],
    lastMonth: [`${addDays(first, -1).slice(0, 7)}-01`, first],
    last30days: [addDays(today, -29), addDays(today, 1)],
  };
  const [from, to] = dates[preset];
  return { preset, fromMs: dayStart(from, timeZone).getTime(), toMs: dayStart(to, timeZone).getTime() };
}

function monthAfter(first: string): string {
  return `${addDays(first, 31).slice(0, 7)}-01`;
}

/** Value of a `datetime-local` input for a time in a zone. */
export function localText(atMs: number, timeZone: string | null): string {
  const seconds = atMs % 60_000 === 0 ? '' : `:${new Date(atMs).toISOString().slice(17, 19)}`;
  return timeIn(atMs, timeZone).toISOString().slice(0, 16) + seconds;
}

/** The time in such an input; null while it is incomplete. */
export function timeOfLocalText(text: string, timeZone: string | null): number | null {
  const [date = '', clock = ''] = text.split('T');
  const localMs = Date.parse(`${date}T${clock.length === 5 ? `${clock}:00` : clock}Z`);
  return Number.isNaN(localMs) ? null : timeOfClock(localMs, timeZone);
}
