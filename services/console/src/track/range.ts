import { addDays, dateOf, dayStart } from '../days.ts';
import { timeOf } from '../links.ts';
import { presetRange, type TimeRange, timeRangeOf } from '../time-range.ts';

const DAY_MS = 86_400_000;

/** The interval in the address. If it has only a second, the day of that second in the viewer's zone. */
export function replayRange(query: URLSearchParams, timeZone: string | null, nowMs: number): TimeRange {
  const atMs = timeOf(query.get('t'));
  const isNamed = query.has('range') || query.has('from');
  if (isNamed || atMs === null) return timeRangeOf(query, 'today', timeZone, nowMs);
  const date = dateOf(atMs, timeZone);
  if (date === dateOf(nowMs, timeZone)) return presetRange('today', timeZone, nowMs);
  return { preset: null, fromMs: startOf(date, timeZone), toMs: startOf(addDays(date, 1), timeZone) };
}

/** The next or previous interval of the same length. Whole days stay whole even if clocks change. */
export function nextRange({ fromMs, toMs }: TimeRange, direction: 1 | -1, timeZone: string | null): TimeRange {
  const [from, to] = [dateOf(fromMs, timeZone), dateOf(toMs, timeZone)];
  if (startOf(from, timeZone) !== fromMs || startOf(to, timeZone) !== toMs) {
    const step = direction * (toMs - fromMs);
    return { preset: null, fromMs: fromMs + step, toMs: toMs + step };
  }
  const days = direction * Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
  const moved = (date: string) => startOf(addDays(date, days), timeZone);
  return { preset: null, fromMs: moved(from), toMs: moved(to) };
}

function startOf(date: string, timeZone: string | null): number {
  return dayStart(date, timeZone).getTime();
}
