import type { Question, ReportKind, Row } from '@outrider/reports';

/**
 * Estimates how much of a report is done at a row: from the number of vehicles before the row's vehicle, and from the
 * row's time within the time range.
 *
 * @returns 0 to 100; it never falls
 */
export function progressOf(
  { columns }: Pick<ReportKind, 'columns'>,
  { vehicles, fromMs, toMs }: Pick<Question, 'vehicles' | 'fromMs' | 'toMs'>,
): (row: Row) => number {
  const places = new Map(vehicles.map(({ id }, nth) => [id as string, nth]));
  const vehicleAt = columns.findIndex(({ name }) => name === 'vehicleId');
  const timeAt = columns.findIndex(({ type }) => type === 'time');
  let percent = 0;
  return (row) => {
    const place = places.get(String(row[vehicleAt])) ?? 0;
    const timeMs = timeAt < 0 ? null : row[timeAt];
    const share = typeof timeMs === 'number' ? Math.min(Math.max((timeMs - fromMs) / (toMs - fromMs), 0), 1) : 0;
    percent = Math.max(percent, (100 * (place + share)) / Math.max(1, vehicles.length));
    return Math.min(percent, 100);
  };
}
