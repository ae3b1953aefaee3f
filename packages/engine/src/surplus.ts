import type { EventId, FleetEvent, UserId, VehicleId } from '@outrider/domain';

/**
 * Most geofences of one owner that count for a vehicle at a time: the oldest of those that contain it. The choice
 * depends only on the place and the definitions, so that a replay and a recalculation choose the same, and a visit that
 * begins ends.
 *
 * A constant, since changing a setting would change the result of replaying packets processed before.
 */
export const MAX_GEOFENCES_AT_ONCE = 200;

/**
 * Most events of one vehicle that may begin in a minute of fixes because of one owner's geofences; the same limit holds
 * for the vehicle's own events. Far above what a terminal that reports each second causes. A constant as well.
 */
export const MAX_EVENTS_PER_MINUTE = 600;

/** Most owners for which a vehicle keeps a note. */
const MAX_NOTES = 20;
const MINUTE_MS = 60_000;

/** Owner of the geofences that an event is about; empty: the event is the vehicle's own. */
export type SurplusOwner = UserId | '';

/** What was left out for one owner in the last minute in which anything was. */
export interface SurplusNote {
  owner: SurplusOwner;
  /** Time of the last fix at which something was left out. */
  atMs: number;
  /** Geofences around the vehicle at that fix that did not count. */
  geofences: number;
  /** Events that were left out in the minute of that fix. */
  events: number;
}

/** Number of events that a vehicle began in a minute, and what was left out. Part of the checkpointed state. */
export interface Surplus {
  /** Start of the minute, by the times of fixes. */
  minuteMs: number;
  /** Events that began in it, by owner. */
  begun: [owner: SurplusOwner, count: number][];
  /** Ids of open events whose begin was left out: their ends are left out, too. */
  leftOut: EventId[];
  notes: SurplusNote[];
}

/** Totals of what was left out since a moment. */
export interface SurplusCount {
  /** Geofences left out, counted anew at each position. */
  geofences: number;
  /** Events whose begin was left out. */
  events: number;
  vehicles: Set<VehicleId>;
}

export function noSurplus(): Surplus {
  return { minuteMs: 0, begun: [], leftOut: [], notes: [] };
}

/**
 * Whether an event may be published. Begins are counted against the limit; an end is published if its begin was, so
 * that begins and ends match.
 *
 * @param owner owner of the geofence that the event is about
 * @param most begins of one owner in a minute
 */
export function admit(surplus: Surplus, event: FleetEvent, owner: SurplusOwner, most: number): boolean {
  if (event.phase === 'end') {
    const at = surplus.leftOut.indexOf(event.id);
    if (at < 0) return true;
    surplus.leftOut.splice(at, 1);
    return false;
  }
  const minuteMs = event.fixTimeMs - (event.fixTimeMs % MINUTE_MS);
  if (minuteMs !== surplus.minuteMs) {
    surplus.minuteMs = minuteMs;
    surplus.begun.length = 0;
  }
  const begun = surplus.begun.find((each) => each[0] === owner);
  if (begun === undefined) surplus.begun.push([owner, 1]);
  else if (begun[1] < most) begun[1]++;
  else {
    surplus.leftOut.push(event.id);
    noteOf(surplus, owner, event.fixTimeMs).events++;
    return false;
  }
  return true;
}

/** Records that geofences of an owner did not count at a fix. */
export function noteGeofences(surplus: Surplus, owner: SurplusOwner, fixTimeMs: number, geofences: number): void {
  noteOf(surplus, owner, fixTimeMs).geofences = geofences;
}

function noteOf(surplus: Surplus, owner: SurplusOwner, fixTimeMs: number): SurplusNote {
  const { notes } = surplus;
  let note = notes.find((each) => each.owner === owner);
  if (note === undefined) {
    note = { owner, atMs: 0, geofences: 0, events: 0 };
    if (notes.length === MAX_NOTES) notes.shift();
    notes.push(note);
  }
  if (Math.floor(note.atMs / MINUTE_MS) !== Math.floor(fixTimeMs / MINUTE_MS)) {
    note.geofences = 0;
    note.events = 0;
  }
  note.atMs = fixTimeMs;
  return note;
}

/** Moves the `count` smallest numbers to the front, in no particular order (Hoare's selection). */
export function selectSmallest(numbers: Int32Array, length: number, count: number): void {
  let left = 0;
  let right = length - 1;
  while (left < right) {
    const pivot = numbers[(left + right) >> 1] as number;
    let i = left;
    let j = right;
    while (i <= j) {
      while ((numbers[i] as number) < pivot) i++;
      while ((numbers[j] as number) > pivot) j--;
      if (i > j) break;
      const swapped = numbers[i] as number;
      numbers[i++] = numbers[j] as number;
      numbers[j--] = swapped;
    }
    if (count - 1 <= j) right = j;
    else if (count - 1 >= i) left = i;
    else return;
  }
}
