import {
  type Alarm,
  alarmOf,
  deriveEventId,
  type FleetEvent,
  type Manoeuvre,
  manoeuvreOf,
  NO_SUPPLY_V,
  type Position,
  recordMark,
  SUPPLY_V,
} from '@outrider/domain';
import { advanceShift, concernsDriver } from './driver-shift.ts';
import { type Harsh, NOTHING_HARSH } from './harsh-driving.ts';
import { lastingFacts } from './lasting.ts';
import type { Condition, Moment, VehicleState } from './vehicle-state.ts';

/** How many different records of one fix time are remembered; further ones are evaluated each time they arrive. */
const MAX_MARKS = 32;
/** Marker among a second's marks: the ignition went on and off within it. No record has this mark. */
const BRIEF_IGNITION = 2 ** 32;

/** Why a condition ended that the records no longer report. */
type Cleared = 'switched-off' | 'cleared' | 'restored';

/**
 * Evaluates ignition, alarms and external power of a record (semantics, "Other events"). Records that are not newer
 * than an earlier one are ignored. A condition begins with the first record that reports it and ends with the first
 * that does not. If the first record with an ignition reports it on, no begin is published.
 *
 * @param at assumed place of the vehicle, at the time of the record
 * @param found harsh driving that the positions show, whatever the terminal reports
 */
export function observe(
  vehicle: VehicleState,
  version: number,
  record: Position,
  at: Moment,
  events: FleetEvent[],
  found: readonly Harsh[] = NOTHING_HARSH,
): void {
  if (record.fixTimeMs < vehicle.recordAtMs) return;
  if (record.fixTimeMs === vehicle.recordAtMs) observeBeside(vehicle, version, null, record, at, events, found);
  else takeIn(vehicle, version, record, found, at, false, events);
}

/**
 * Evaluates another record of the newest fix time (an SOS beside a periodic record). A repeated record is ignored. An
 * alarm raised by one record of this time is not cleared by another without it.
 *
 * @param latest the fix that moved the vehicle at this time; null where none did, or where it was evaluated here
 */
export function observeBeside(
  vehicle: VehicleState,
  version: number,
  latest: Position | null,
  record: Position,
  at: Moment,
  events: FleetEvent[],
  found: readonly Harsh[] = NOTHING_HARSH,
): void {
  const atMs = record.fixTimeMs;
  if (vehicle.beside?.atMs !== atMs) vehicle.beside = { atMs, marks: latest === null ? [] : [recordMark(latest)] };
  const { marks } = vehicle.beside;
  const mark = recordMark(record);
  if (marks.includes(mark)) return;
  if (marks.length < MAX_MARKS) marks.push(mark);
  if (concernsDriver(vehicle, record)) advanceShift(vehicle, record, at, true, events);
  takeIn(vehicle, version, record, found, at, true, events);
  // The steady state may have changed; the next fix determines it again.
  vehicle.steadyEpoch = -1;
}

/** Whether a record of this time with the same mark was evaluated already, whatever its place. */
export function isRepeat({ beside }: VehicleState, record: Position): boolean {
  return beside?.atMs === record.fixTimeMs && beside.marks.includes(recordMark(record));
}

function takeIn(
  vehicle: VehicleState,
  version: number,
  record: Position,
  found: readonly Harsh[],
  at: Moment,
  isBeside: boolean,
  events: FleetEvent[],
): void {
  const { ignition, supplyV } = record;
  const alarms =
    found.length === 0 ? record.alarms : [...record.alarms, ...found.map(({ manoeuvre }) => alarmOf(manoeuvre))];
  // An event began and ended in this second. A second one would have the same id, so none may begin again.
  const isBrief = isBeside && ignition === true && vehicle.beside?.marks.includes(BRIEF_IGNITION) === true;
  if (ignition !== null && ignition !== vehicle.ignition && !isBrief) {
    if (isBeside && vehicle.conditions.some(({ what, start }) => what === 'ignition' && start.atMs === at.atMs))
      vehicle.beside?.marks.push(BRIEF_IGNITION);
    if (ignition) begin(vehicle, version, 'ignition', vehicle.ignition === null, at, events);
    else endWhere(vehicle, version, (what) => what === 'ignition', at, events);
    vehicle.ignition = ignition;
  }
  if (supplyV !== null) {
    if (supplyV >= SUPPLY_V) vehicle.supplied = true;
    // An unconnected input measures no voltage from the first record on, which is no power cut.
    else if (supplyV < NO_SUPPLY_V && vehicle.supplied !== null) vehicle.supplied = false;
  }
  const isRaised = (what: Condition['what']) =>
    (what !== 'ignition' && alarms.includes(what)) || (what === 'power-cut' && vehicle.supplied === false);
  if (vehicle.conditions.length > 0 && !isBeside)
    endWhere(vehicle, version, (what) => what !== 'ignition' && !isRaised(what), at, events);
  for (const alarm of alarms) raise(vehicle, version, alarm, found, at, events);
  if (vehicle.supplied === false) raise(vehicle, version, 'power-cut', found, at, events);
}

/**
 * Whether {@link observe} would change neither events nor state. Cheap, since it is called for nearly every fix.
 */
export function saysNothingNew({ recordAtMs, ignition, supplied }: VehicleState, record: Position): boolean {
  return (
    record.alarms.length === 0 &&
    (record.ignition === null || record.ignition === ignition) &&
    (record.supplyV === null || (supplied === true && record.supplyV >= SUPPLY_V)) &&
    record.fixTimeMs > recordAtMs
  );
}

/** Whether a record without alarms would end a condition. */
export function hasAlarm({ conditions }: VehicleState): boolean {
  for (let i = 0; i < conditions.length; i++) if (conditions[i]?.what !== 'ignition') return true;
  return false;
}

/** Ends all conditions at the last fix because the vehicle is no longer defined. */
export function endConditionsByDefinition(
  vehicle: VehicleState,
  version: number,
  at: Moment,
  events: FleetEvent[],
): void {
  for (const condition of vehicle.conditions) {
    if (condition.silent && condition.what === 'ignition') continue;
    // A record without a good fix may be newer than the last one that moved the vehicle.
    const end = { ...at, atMs: Math.max(at.atMs, condition.start.atMs) };
    events.push(conditionEvent(vehicle, version, condition, end, 'no-longer-watched', at.atMs));
  }
  vehicle.conditions = [];
}

function raise(
  vehicle: VehicleState,
  version: number,
  alarm: Alarm,
  found: readonly Harsh[],
  at: Moment,
  events: FleetEvent[],
): void {
  const mps2 = found.find(({ manoeuvre }) => alarmOf(manoeuvre) === alarm)?.mps2 ?? null;
  const lasting = vehicle.conditions.find(({ what }) => what === alarm);
  if (lasting === undefined) begin(vehicle, version, alarm, false, at, events, mps2);
  else if (mps2 !== null) lasting.peakMps2 = Math.max(lasting.peakMps2 ?? mps2, mps2);
}

function begin(
  vehicle: VehicleState,
  version: number,
  what: Condition['what'],
  silent: boolean,
  at: Moment,
  events: FleetEvent[],
  peakMps2: number | null = null,
): void {
  const condition: Condition = { what, kind: kindOf(what), silent, start: at, id: null, peakMps2 };
  vehicle.conditions.push(condition);
  if (!silent) events.push(conditionEvent(vehicle, version, condition, null, null, at.atMs));
}

function endWhere(
  vehicle: VehicleState,
  version: number,
  isOver: (what: Condition['what']) => boolean,
  at: Moment,
  events: FleetEvent[],
): void {
  vehicle.conditions = vehicle.conditions.filter((condition) => {
    if (!isOver(condition.what)) return true;
    events.push(conditionEvent(vehicle, version, condition, at, clearedBy(condition.what), at.atMs));
    return false;
  });
}

/** Ignition, power cuts and harsh driving are separate kinds of event. */
export function kindOf(what: Condition['what']): Condition['kind'] {
  if (what === 'ignition' || what === 'power-cut') return what;
  return manoeuvreOf(what) === null ? 'alarm' : 'harsh-driving';
}

function clearedBy(what: Condition['what']): Cleared {
  return what === 'ignition' ? 'switched-off' : what === 'power-cut' ? 'restored' : 'cleared';
}

function conditionEvent(
  vehicle: VehicleState,
  definitionVersion: number,
  condition: Condition,
  end: Moment | null,
  endReason: Cleared | 'no-longer-watched' | null,
  fixTimeMs: number,
): FleetEvent {
  const { what, kind, silent, start, peakMps2 } = condition;
  const subject = kind === 'alarm' || kind === 'harsh-driving' ? what : silent ? 'found' : '';
  condition.id ??= deriveEventId(kind, vehicle.id, subject, start.atMs);
  const facts = lastingFacts(vehicle, { id: condition.id, start, end, fixTimeMs, definitionVersion });
  switch (kind) {
    case 'ignition':
      return { kind, ...facts, endReason: endReason as 'switched-off' | 'no-longer-watched' | null };
    case 'power-cut':
      return { kind, ...facts, endReason: endReason as 'restored' | 'no-longer-watched' | null };
    case 'harsh-driving': {
      const manoeuvre = manoeuvreOf(what) as Manoeuvre;
      return { kind, ...facts, manoeuvre, peakMps2, endReason: endReason as 'cleared' | 'no-longer-watched' | null };
    }
    case 'alarm':
      return { kind, ...facts, alarm: what as Alarm, endReason: endReason as 'cleared' | 'no-longer-watched' | null };
  }
}
