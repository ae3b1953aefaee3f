import { type DriverShift, deriveEventId, driverCodeOf, type FleetEvent, type Position } from '@outrider/domain';
import { lastingFacts } from './lasting.ts';
import type { Moment, PastShift, Shift, VehicleState } from './vehicle-state.ts';

/** A shift ends when the vehicle stands for longer than this without sending a code. */
export const SHIFT_PAUSE_MS = 3_600_000;
/** Newest past shifts always kept: events published at their end may have ended minutes and a few shifts ago. */
const NEWEST_PAST_SHIFTS = 4;

/** Whether a record may begin, prolong or end a shift. Cheap, since it is called for each fix. */
export function concernsDriver({ shift }: VehicleState, { attributes }: Position): boolean {
  return shift !== null || (attributes !== null && attributes.driverCode !== undefined);
}

/**
 * Evaluates what a record reports about the driver. A shift begins with the first record that has the code. It ends
 * - with the record that has another code, or reports that no card is inserted;
 * - where the vehicle was out of use for more than {@link SHIFT_PAUSE_MS}: at the last record that has the code, or
 *   shows the vehicle in use (ignition on; where the ignition is unknown, faster than the moving speed).
 * A record without a code is neutral: most terminals send the code only now and then.
 *
 * @param at assumed place of the vehicle, at the time of the record
 * @param isBeside another record of the newest fix time: it can't remove a card that the first one reported
 */
export function advanceShift(
  vehicle: VehicleState,
  record: Position,
  at: Moment,
  isBeside: boolean,
  events: FleetEvent[],
): void {
  const { definition } = vehicle;
  if (definition === null) return;
  nameDriver(vehicle, events);
  let { shift } = vehicle;
  const said = codeOf(record);
  // Within one second a driver has one shift at most, even if two cards alternate.
  const isOver = vehicle.pastShifts.some((past) => past.code === said && past.startedAtMs === at.atMs);
  const code = isOver ? null : said;
  if (shift !== null && at.atMs < shift.seen.atMs) return;
  if (shift !== null && at.atMs - shift.seen.atMs > SHIFT_PAUSE_MS) {
    // The shift lasted until the pause was noticed: events published until then named the driver.
    endShift(vehicle, shift, shift.seen, 'parked', at.atMs, shift.seen.atMs + SHIFT_PAUSE_MS, events);
    shift = null;
  }
  if (shift !== null && code !== null && code !== shift.code && !(isBeside && code === '')) {
    // Where another record of the same time ended the shift, the fix still belongs to this driver.
    const untilMs = isBeside ? at.atMs : at.atMs - 1;
    endShift(vehicle, shift, at, code === '' ? 'card-removed' : 'other-driver', at.atMs, untilMs, events);
    shift = null;
  }
  if (shift !== null) {
    if (code === shift.code || isInUse(vehicle, record, definition.movingSpeedKmh))
      if (at.atMs > shift.seen.atMs) shift.seen = at;
  } else if (code !== null && code !== '') {
    vehicle.shift = { code, start: at, id: null, seen: at };
    events.push(shiftEvent(vehicle, vehicle.shift, null, null, at.atMs, definition.version));
  }
}

/**
 * The time until which an event named after the driver of a past shift may begin: the latest end of the shifts that
 * overlap the interval. Null where none does.
 */
export function pastShiftUntilMs({ pastShifts }: VehicleState, fromMs: number, toMs: number): number | null {
  const within = pastShifts.filter(({ startedAtMs, untilMs }) => startedAtMs <= toMs && untilMs >= fromMs);
  return within.length === 0 ? null : Math.max(...within.map(({ untilMs }) => untilMs));
}

/** Ends the shift because the vehicle is no longer defined. */
export function endShiftByDefinition(vehicle: VehicleState, version: number, events: FleetEvent[]): void {
  const { shift } = vehicle;
  if (shift === null) return;
  const endMs = shift.seen.atMs;
  endShift(vehicle, shift, shift.seen, 'no-longer-watched', endMs, endMs - 1, events, version);
}

/**
 * Sets the driver in the events since the last call: the driver of the last shift that overlaps each event. Must be
 * called before the shift changes.
 */
export function nameDriver(vehicle: VehicleState, events: FleetEvent[]): void {
  const { named, shift, pastShifts } = vehicle;
  vehicle.named = events.length;
  if (shift === null && pastShifts.length === 0) return;
  for (let i = named; i < events.length; i++) {
    const event = events[i] as FleetEvent;
    if (event.kind === 'driver-shift' || event.kind === 'offline') continue;
    // An event of a single fix may be published before another record of that time names a driver.
    const isMoment = event.endedAtMs === event.startedAtMs;
    const hasBegun = (sinceMs: number) =>
      sinceMs < (event.endedAtMs ?? event.fixTimeMs) || (!isMoment && sinceMs <= event.startedAtMs);
    if (shift !== null && hasBegun(shift.start.atMs)) {
      event.driverCode = shift.code;
      continue;
    }
    const past = pastShifts.find((each) => hasBegun(each.startedAtMs) && event.startedAtMs <= each.untilMs);
    if (past !== undefined) event.driverCode = past.code;
  }
}

/** Null where the record has no driver data; empty where it reports that no card is inserted. */
function codeOf({ attributes }: Position): string | null {
  if (attributes === null) return null;
  if (attributes.driverCardInserted === false) return '';
  return attributes.driverCode === undefined ? null : driverCodeOf(attributes.driverCode);
}

function isInUse({ ignition: known }: VehicleState, { ignition, speedKmh }: Position, movingSpeedKmh: number): boolean {
  const isOn = ignition ?? known;
  return isOn ?? (speedKmh ?? 0) > movingSpeedKmh;
}

/** @param untilMs events that begin up to this time may belong to the shift */
function endShift(
  vehicle: VehicleState,
  shift: Shift,
  end: Moment,
  reason: DriverShift['endReason'],
  fixTimeMs: number,
  untilMs: number,
  events: FleetEvent[],
  version = vehicle.definition?.version ?? 0,
): void {
  events.push(shiftEvent(vehicle, shift, end, reason, fixTimeMs, version));
  vehicle.shift = null;
  const past = { code: shift.code, startedAtMs: shift.start.atMs, untilMs };
  vehicle.pastShifts = stillNamed(vehicle, [past, ...vehicle.pastShifts]);
}

/**
 * Selects the past shifts that future events may name: the newest ones, and those in progress
 * - when the vehicle came to stand: a trip ends there, however many cards were inserted since;
 * - when it left a geofence to which it may still return in time;
 * - when the last good fix came, or the last value of a sensor beyond a threshold: events may end there weeks later.
 *
 * @param past newest first
 */
function stillNamed({ latest, motion, sensors, presences }: VehicleState, past: readonly PastShift[]): PastShift[] {
  const ends = (sensors?.beyond ?? []).flatMap(({ where, runs }) =>
    where === null || runs.length === 0 ? [] : where.atMs,
  );
  if (latest !== null) ends.push(latest.fixTimeMs);
  if (motion?.rest) ends.push(motion.rest.since.atMs);
  for (const { phase, exit } of presences) if (phase === 'leaving' && exit !== null) ends.push(exit.atMs);
  const named = new Set(ends.map((endMs) => past.find(({ startedAtMs }) => startedAtMs < endMs)));
  return past.filter((each, nth) => nth < NEWEST_PAST_SHIFTS || named.has(each));
}

function shiftEvent(
  vehicle: VehicleState,
  shift: Shift,
  end: Moment | null,
  endReason: DriverShift['endReason'],
  fixTimeMs: number,
  definitionVersion: number,
): DriverShift {
  const { code, start } = shift;
  shift.id ??= deriveEventId('driver-shift', vehicle.id, code, start.atMs);
  return {
    kind: 'driver-shift',
    ...lastingFacts(vehicle, { id: shift.id, start, end, fixTimeMs, definitionVersion }),
    driverCode: code,
    endReason,
  };
}
