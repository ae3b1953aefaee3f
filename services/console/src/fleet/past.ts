import type { PositionAt, Vehicle } from '@outrider/client';
import { computed, signal } from '@preact/signals';
import { api } from '../session.ts';
import type { State } from './fleet.ts';
import { fleet, hasStates } from './store.ts';

/** The moment that the user chose for the map and its list, in Unix milliseconds; null: now. */
export const pastMs = signal<number | null>(null);
/** While true, live data of vehicles is ignored. */
export const isPast = computed(() => pastMs.value !== null);
/** The moment that is shown: set to {@link pastMs} once its data is loaded. */
export const shownPastMs = signal<number | null>(null);
/** Why the moment can't be shown. */
export const pastError = signal<unknown>(null);

/** The reference time for ages on the map and in its list. */
export function nowOfMap(): number {
  return shownPastMs.value ?? Date.now();
}

/** State of a vehicle at a time, derived from its last fix. */
export function stateAt(
  { offlineAfterMinutes, movingSpeedKmh }: Pick<Vehicle, 'offlineAfterMinutes' | 'movingSpeedKmh'>,
  { fixTime, speedKmh = 0, ignition = false }: Pick<PositionAt, 'fixTime' | 'speedKmh' | 'ignition'>,
  atMs: number,
): State {
  if (atMs - Date.parse(fixTime) > offlineAfterMinutes * 60_000) return 'offline';
  if (speedKmh > movingSpeedKmh) return 'moving';
  return ignition ? 'idling' : 'parking';
}

/** Shows the fleet as it was at a moment. What was shown before stays until the answer is there. */
export async function showPast(atMs: number, signal: AbortSignal): Promise<void> {
  pastMs.value = atMs;
  try {
    const found = new Map<string, PositionAt>();
    const at = new Date(atMs).toISOString();
    for await (const item of api.items('/api/v1/reports/positions-at', { query: { at }, signal }))
      found.set(item.vehicleId, item);
    if (signal.aborted) return;
    for (const vehicle of fleet.vehicles) {
      const fix = found.get(vehicle.id);
      if (fix === undefined) {
        fleet.recall(vehicle.id, null);
        continue;
      }
      const { latitude, longitude, fixTime, speedKmh = null, courseDeg = null } = fix;
      const state = stateAt(vehicle, fix, atMs);
      fleet.recall(vehicle.id, { latitude, longitude, fixMs: Date.parse(fixTime), speedKmh, courseDeg, state });
    }
    shownPastMs.value = atMs;
    pastError.value = null;
  } catch (error) {
    if (!signal.aborted) pastError.value = error;
  }
}

/** Returns to now: the live API sends the data of all vehicles again. */
export function leavePast(): void {
  if (pastMs.peek() === null) return;
  for (const { id } of fleet.vehicles) fleet.recall(id, null);
  hasStates.value = false;
  pastError.value = null;
  shownPastMs.value = null;
  pastMs.value = null;
}
