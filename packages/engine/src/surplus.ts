import type { EventId, FleetEvent, UserId, VehicleId } from '@outrider/domain';

/**
 * Of one owner, so many geofences at a time count for a vehicle: the oldest of those that contain it. Which they are
 * follows from the place and the definitions alone, so that a replay and a recalculation choose the same, and a visit
 * that begins ends.
 *
 * A setting would change what a replay makes of packets that were processed before it was changed: so it is a constant.
 */
export const MAX_GEOFENCES_AT_ONCE = 200;

/**
 * So many events of one vehicle begin in a minute of fixes because of one owner's geofences, and as many that are the
 * vehicle's own. Far above what a terminal that reports each second makes. No setting either.
 */
export const MAX_EVENTS_PER_MINUTE = 600;

/** Owners that a vehicle keeps a note of. */
const MAX_NOTES = 20;
const MINUTE_MS = 60_000;

/** Whose geofences an event comes from; empty: the event is the vehicle's own. */
export type SurplusOwner = UserId | '';

/** What was left out of one owner's, in the last minute in which anything was. */
export interface SurplusNote {
  owner: SurplusOwner;
  /** Time of the last fix at which something was left out. */
  atMs: number;
  /** Geofences around the vehicle at that fix that did not count. */
  geofences: number;
  /** Events that were left out in the minute of that fix. */
  events: number;
}

/** How many events a vehicle began in a minute, and what was left out. Part of the checkpointed state. */
export interface Surplus {
  /** Begin of the minute, by the times of fixes. */
  minuteMs: number;
  /** Events that began in it, by owner. */
  begun: [owner: SurplusOwner, count: number][];
  /** Ids of events whose begin was left out and that go on: their ends are left out, too. */
  leftOut: EventId[];
  notes: SurplusNote[];
}

/** What was left out of vehicles since some time. */
export interface SurplusCount {
  /** Geofences around positions, each counted at each. */
  geofences: number;
  /** Events whose begin was left out. */
  events: number;
  vehicles: Set<VehicleId>;
}

export function noSurplus(): Surplus {
  return { minuteMs: 0, begun: [], leftOut: [], notes: [] };
}

/**
 * Whether an event may be published. The begin of one counts, and its end is published where its begin was: so each
 * begin has an end.
 *
 * @param owner whose geofence it is about
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

/** Notes that geofences of an owner did not count at a fix. */
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

/** The `count` smallest of some numbers, in no particular order, are moved to the front (Hoare's selection). */
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
