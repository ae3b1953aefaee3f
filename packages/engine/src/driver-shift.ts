import { type DriverShift, deriveEventId, driverCodeOf, type FleetEvent, type Position } from '@outrider/domain';
import { lastingFacts } from './lasting.ts';
import type { Moment, PastShift, Shift, VehicleState } from './vehicle-state.ts';

/** A vehicle that stood for longer than this, and sent no code, is nobody's any more. */
export const SHIFT_PAUSE_MS = 3_600_000;
/** What is published at its end may have ended minutes before: as many shifts may have begun since, and some more. */
const NEWEST_PAST_SHIFTS = 4;

/** True where a record may begin, prolong or end a shift. Cheap: it is asked for each fix. */
export function concernsDriver({ shift }: VehicleState, { attributes }: Position): boolean {
  return shift !== null || (attributes !== null && attributes.driverCode !== undefined);
}

/**
 * Takes in what a record says of the driver. A shift begins with the first record that has the code. It ends
 * - with the record that has another code, or says that no card is there;
 * - where the vehicle was out of use for more than {@link SHIFT_PAUSE_MS}: at the last record that has the code, or
 *   shows the vehicle in use (ignition on; where the terminal says nothing of it, faster than what counts as moving).
 * A record without a code says nothing of the driver: most terminals send the code now and then.
 *
 * @param at where the vehicle is taken to be, at the time of the record
 * @param isBeside another record of the newest fix time: it does not take a card away that the first one has shown
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
  // One shift of a driver begins in a second, however often two cards take turns in it.
  const isOver = vehicle.pastShifts.some((past) => past.code === said && past.startedAtMs === at.atMs);
  const code = isOver ? null : said;
  if (shift !== null && at.atMs < shift.seen.atMs) return;
  if (shift !== null && at.atMs - shift.seen.atMs > SHIFT_PAUSE_MS) {
    // Until it was noticed that the vehicle stands, it went on: whatever was published then named the driver.
    endShift(vehicle, shift, shift.seen, 'parked', at.atMs, shift.seen.atMs + SHIFT_PAUSE_MS, events);
    shift = null;
  }
  if (shift !== null && code !== null && code !== shift.code && !(isBeside && code === '')) {
    // Where another record of its time ended it, the fix was still this driver's.
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
 * Until when an event may begin that is named after the driver of a past shift: the latest end of the shifts that touch
 * the interval. Null where none does.
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
 * Names the driver in the events since the last call: the last whose shift they have a part in. Called before anything
 * becomes of the shift.
 */
export function nameDriver(vehicle: VehicleState, events: FleetEvent[]): void {
  const { named, shift, pastShifts } = vehicle;
  vehicle.named = events.length;
  if (shift === null && pastShifts.length === 0) return;
  for (let i = named; i < events.length; i++) {
    const event = events[i] as FleetEvent;
    if (event.kind === 'driver-shift' || event.kind === 'offline') continue;
    // What began and ended with one fix may be published before another record of that time names somebody.
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

/** Null where the record says nothing of the driver; empty where it says that no card is there. */
function codeOf({ attributes }: Position): string | null {
  if (attributes === null) return null;
  if (attributes.driverCardInserted === false) return '';
  return attributes.driverCode === undefined ? null : driverCodeOf(attributes.driverCode);
}

function isInUse({ ignition: known }: VehicleState, { ignition, speedKmh }: Position, movingSpeedKmh: number): boolean {
  const isOn = ignition ?? known;
  return isOn ?? (speedKmh ?? 0) > movingSpeedKmh;
}

/** @param untilMs events that begin no later may be in it */
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
 * Past shifts that events to come may name: the newest, and those of the time when the vehicle came to stand, when it
 * left a geofence to which it may still come back in time, and when the last good fix, or the last value of a sensor
 * beyond a threshold, came. A sensor or a receiver may be silent for weeks before what lasts ends there; a trip ends
 * where the vehicle came to stand, however many cards were shown since.
 *
 * @param past the newest first
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
