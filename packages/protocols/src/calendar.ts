/** Unix milliseconds of a UTC date and time; NaN for a date that does not exist (31 June). Months count from 1. */
export function utcMs(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  // NaN fails every comparison.
  if (!(month >= 1 && month <= 12 && day >= 1 && hour <= 23 && minute <= 59 && second < 60)) return Number.NaN;
  const midnightMs = Date.UTC(year, month - 1, day);
  if (day > 28 && new Date(midnightMs).getUTCDate() !== day) return Number.NaN;
  return midnightMs + hour * 3_600_000 + minute * 60_000 + Math.floor(second * 1000);
}

/** Unix milliseconds of `YYMMDD` and `HHMMSS`, or of the order given; NaN for anything else. */
export function utcMsOfText(date: string, time: string, order: 'YYMMDD' | 'DDMMYY' | 'YYYYMMDD' = 'YYMMDD'): number {
  if (date.length !== order.length || !/^\d+$/.test(date) || !/^\d{6}(\.\d{1,6})?$/.test(time)) return Number.NaN;
  const digits = (unit: string) => Number(date.slice(order.indexOf(unit), order.lastIndexOf(unit) + 1));
  const year = order === 'YYYYMMDD' ? digits('Y') : 2000 + digits('Y');
  return utcMs(
    year,
    digits('M'),
    digits('D'),
    Number(time.slice(0, 2)),
    Number(time.slice(2, 4)),
    Number(time.slice(4)),
  );
}

const two = (value: number) => String(value).padStart(2, '0');

/** Formats a time as a date (`YYMMDD` or another order) and `HHMMSS`. */
export function textOfUtc(timeMs: number, order: 'YYMMDD' | 'DDMMYY' | 'YYYYMMDD' = 'YYMMDD'): [string, string] {
  const at = new Date(timeMs);
  const [year, month, day] = [at.getUTCFullYear(), two(at.getUTCMonth() + 1), two(at.getUTCDate())];
  const date =
    order === 'YYYYMMDD'
      ? `${year}${month}${day}`
      : order === 'YYMMDD'
        ? `${two(year % 100)}${month}${day}`
        : `${day}${month}${two(year % 100)}`;
  return [date, `${two(at.getUTCHours())}${two(at.getUTCMinutes())}${two(at.getUTCSeconds())}`];
}
