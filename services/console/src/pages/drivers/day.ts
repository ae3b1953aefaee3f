import type { DriverAssignment, EventsRow, TripsRow } from '@outrider/client';

/** A part of a day in which a driver had a vehicle. */
export interface Shift {
  vehicleId: string;
  vehicleName: string;
  fromMs: number;
  toMs: number;
  /** Whether the shift has not ended yet. */
  isOpen: boolean;
  /** True: assigned manually. False: identified by the code that the terminal sent. */
  isByHand: boolean;
  trips: number;
  distanceM: number;
}

export interface DayData {
  /** Manual assignments of the driver. */
  assignments: readonly DriverAssignment[];
  /** `driver-shift` events of the driver. */
  shifts: readonly EventsRow[];
  /** Trips of the driver. */
  trips: readonly TripsRow[];
  /** Violations of the driver. */
  violations: readonly EventsRow[];
  /** Scores of the trips that began on the day, by `tripKey`. */
  scores: ReadonlyMap<string, number>;
  nameOf: (vehicleId: string) => string;
}

interface Span {
  fromMs: number;
  toMs: number;
}

/** The shifts of a day in their order, each with the trips that began in it. */
export function shiftsOf(data: DayData, { fromMs, toMs }: Span, nowMs: number): Shift[] {
  const endMs = Math.max(fromMs, Math.min(toMs, nowMs));
  const found: Shift[] = [];
  const add = (shift: Omit<Shift, 'trips' | 'distanceM'>) => {
    const cut = { ...shift, fromMs: Math.max(shift.fromMs, fromMs), toMs: Math.min(shift.toMs, endMs) };
    if (cut.fromMs < cut.toMs) found.push({ ...cut, trips: 0, distanceM: 0 });
  };
  for (const { vehicleId, from, to } of data.assignments) {
    const untilMs = to === null ? endMs : Date.parse(to);
    const isOpen = untilMs >= endMs && nowMs < toMs && (to === null || Date.parse(to) > nowMs);
    const span = { fromMs: Date.parse(from), toMs: untilMs };
    add({ vehicleId, vehicleName: data.nameOf(vehicleId), ...span, isOpen, isByHand: true });
  }
  const byHand = [...found];
  for (const { vehicleId, vehicleName, startedAt, endedAt } of data.shifts) {
    const span = { fromMs: Date.parse(startedAt), toMs: endedAt === null ? endMs : Date.parse(endedAt) };
    const isOpen = endedAt === null && nowMs < toMs;
    for (const part of without(
      span,
      byHand.filter((shift) => shift.vehicleId === vehicleId),
    ))
      add({ vehicleId, vehicleName, ...part, isOpen: isOpen && part.toMs === span.toMs, isByHand: false });
  }
  found.sort((a, b) => a.fromMs - b.fromMs || a.toMs - b.toMs);
  for (const { vehicleId, startedAt, distanceM } of data.trips) {
    const atMs = Date.parse(startedAt);
    const own = found.filter((shift) => shift.vehicleId === vehicleId);
    const shift = own.find((each) => each.fromMs <= atMs && atMs < each.toMs) ?? nearest(own, atMs);
    if (shift === undefined) continue;
    shift.trips += 1;
    shift.distanceM += distanceM ?? 0;
  }
  return found;
}

/** The shift nearest to a time: a card is often read a moment after the trip began. */
function nearest(shifts: readonly Shift[], atMs: number): Shift | undefined {
  const away = ({ fromMs, toMs }: Shift) => Math.max(fromMs - atMs, atMs - toMs);
  return shifts.toSorted((a, b) => away(a) - away(b))[0];
}

/** The parts of a span that none of the others covers. */
function without(span: Span, others: readonly Span[]): Span[] {
  let parts = [span];
  for (const { fromMs, toMs } of others)
    parts = parts.flatMap((part) =>
      toMs <= part.fromMs || part.toMs <= fromMs
        ? [part]
        : [
            { fromMs: part.fromMs, toMs: Math.min(part.toMs, fromMs) },
            { fromMs: Math.max(part.fromMs, toMs), toMs: part.toMs },
          ].filter((rest) => rest.fromMs < rest.toMs),
    );
  return parts;
}

/** Position of a time in a day, in per cent of its length: clock changes make a day longer or shorter. */
export function shareOf(atMs: number, { fromMs, toMs }: Span): number {
  return Math.min(100, Math.max(0, ((atMs - fromMs) / (toMs - fromMs)) * 100));
}
