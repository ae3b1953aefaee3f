import type { Geozone, LiveRecord, Vehicle, VehicleGroup } from '@outrider/client';
import { signal } from '@preact/signals';
import { forgetDrivers } from '../drivers/drivers.ts';
import { allPages } from '../parts/lists/pages.ts';
import { api, user } from '../session.ts';
import { ALARMED, Fleet, SPEEDING } from './fleet.ts';

const PAGE = 1000;

export const fleet = new Fleet();
export const groups = signal<readonly VehicleGroup[]>([]);
export const geofences = signal<readonly Geozone[]>([]);
/** Null: the vehicles are loading; true: all are loaded; an error otherwise. */
export const loaded = signal<true | null | Error>(null);

/** Whether the live API has sent the data of all vehicles. Before, missing data means nothing. */
export const hasStates = signal(false);

/**
 * Whether the list of vehicles is loaded and empty. A component that calls this is rendered again when that changes.
 */
export function hasNoVehicles(): boolean {
  void fleet.version.value;
  return loaded.value === true && fleet.count === 0;
}

/**
 * Live records that arrived before the definitions of their vehicles, so that the first ones are on the map at once.
 */
const early = new Map<string, LiveRecord>();

/** Reads the definitions of everything that the user may see. */
export async function loadDefinitions(): Promise<void> {
  fleet.hidesSuspended = user.peek()?.role !== 'operator';
  try {
    await Promise.all([loadVehicles(), loadGroups(), loadGeofences()]);
    loaded.value = true;
  } catch (error) {
    if (loaded.peek() !== true) loaded.value = error instanceof Error ? error : new Error(String(error));
  }
}

async function loadVehicles(): Promise<void> {
  const ids = new Set<string>();
  for await (const vehicle of api.items('/api/v1/vehicles')) {
    ids.add(vehicle.id);
    putVehicle(vehicle);
  }
  fleet.retain(ids);
  early.clear();
}

function putVehicle(vehicle: Vehicle): void {
  fleet.put(vehicle);
  const record = early.get(vehicle.id);
  if (record) takeRecord(record);
}

export async function loadGroups(): Promise<void> {
  const all = await allPages((cursor) => api.get('/api/v1/vehicle-groups', { query: { limit: PAGE, ...cursor } }));
  groups.value = all.sort((a, b) => a.name.localeCompare(b.name));
}

export async function loadGeofences(): Promise<void> {
  const all = await allPages((cursor) => api.get('/api/v1/geozones', { query: { limit: PAGE, ...cursor } }));
  geofences.value = all.sort((a, b) => a.properties.name.localeCompare(b.properties.name));
}

/** Clears all data: another user may log in. */
export function forgetDefinitions(): void {
  fleet.clear();
  forgetDrivers();
  early.clear();
  groups.value = [];
  geofences.value = [];
  loaded.value = null;
  hasStates.value = false;
}

/** Applies a record of the live API to its vehicle. */
export function takeRecord(record: LiveRecord, nowMs = performance.now()): void {
  const { vehicleId, place, state, stateSinceMs, lastContactMs, alarms, speedingIn = [] } = record;
  if (loaded.peek() !== true && fleet.indexOf(vehicleId) === -1) {
    early.set(vehicleId, { ...early.get(vehicleId), ...record });
    return;
  }
  if (place) fleet.move(vehicleId, place, nowMs);
  fleet.setStatus(vehicleId, { state, sinceMs: stateSinceMs, contactMs: lastContactMs ?? 0 });
  if (alarms === undefined) return;
  fleet.setTrouble(vehicleId, (alarms.length > 0 ? ALARMED : 0) | (speedingIn.length > 0 ? SPEEDING : 0));
}
