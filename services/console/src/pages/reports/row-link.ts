import { addDays, dayStart, weekStart } from '../../days.ts';
import { trackLink } from '../../links.ts';
import { endOf, momentOf, type Row } from './rows.ts';
import type { Question } from './state.ts';

/** Lead time, so that the replay shows the way to the event. */
const LEAD_MS = 10 * 60_000;
const DAY_MS = 86_400_000;
const MOST_MS = 7 * DAY_MS;

/**
 * Link to the replay of a row's vehicle, from the second at which the row began; null: the row has no vehicle or time.
 */
export function replayLinkOf(row: Row, { range, period }: Question, timeZone: string | null): string | null {
  const { vehicleId } = row;
  if (typeof vehicleId !== 'string') return null;
  const atMs = momentOf(row);
  if (atMs !== null) {
    const endMs = Math.min(endOf(row) ?? atMs, atMs + MOST_MS);
    return trackLink({ vehicleId, atMs, fromMs: atMs - LEAD_MS, toMs: endMs + LEAD_MS });
  }
  if (typeof row.period !== 'string') return null;
  const whole = periodOf(row.period, period, timeZone) ?? range;
  const [fromMs, toMs] = [Math.max(whole.fromMs, range.fromMs), Math.min(whole.toMs, range.toMs)];
  return toMs <= fromMs || toMs - fromMs > MOST_MS ? null : trackLink({ vehicleId, fromMs, toMs });
}

/** The interval that starts on a given date; null: the whole report. */
function periodOf(first: string, period: Question['period'], timeZone: string | null) {
  if (period === 'whole' || period === null) return null;
  const after = { day: addDays(first, 1), week: addDays(weekStart(first), 7), month: monthAfter(first) }[period];
  return { fromMs: dayStart(first, timeZone).getTime(), toMs: dayStart(after, timeZone).getTime() };
}

function monthAfter(first: string): string {
  return `${addDays(`${first.slice(0, 7)}-01`, 31).slice(0, 7)}-01`;
}
