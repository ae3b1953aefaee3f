import type { Geozone, LiveRecord, Vehicle, VehicleGroup } from '@outrider/client';
import { signal } from '@preact/signals';
import { api } from '../session.ts';
import { Fleet } from './fleet.ts';

const PAGE = 1000;

export const fleet = new Fleet();
export const groups = signal<readonly VehicleGroup[]>([]);
export const geofences = signal<readonly Geozone[]>([]);
/** Null: the vehicles are loading; true: they are all here; an error otherwise. */
export const loaded = signal<true | null | Error>(null);

/** Reads the definitions of everything that the user may see. */
export async function loadDefinitions(): Promise<void> {
  try {
    await Promise.all([loadVehicles(), loadGroups(), loadGeofences()]);
    loaded.value = true;
  } catch (error) {
    if (loaded.peek() !== true) loaded.value = error instanceof Error ? error : new Error(String(error));
  }
}

async function loadVehicles(): Promise<void> {
  const all: Vehicle[] = [];
  for await (const items of api.pages((cursor) => api.get('/api/v1/vehicles', { query: page(cursor) })))
    all.push(...items);
  fleet.define(all);
}

export async function loadGroups(): Promise<void> {
  const all: VehicleGroup[] = [];
  for await (const items of api.pages((cursor) => api.get('/api/v1/vehicle-groups', { query: page(cursor) })))
    all.push(...items);
  groups.value = all.sort((a, b) => a.name.localeCompare(b.name));
}

export async function loadGeofences(): Promise<void> {
  const all: Geozone[] = [];
  for await (const items of api.pages((cursor) => api.get('/api/v1/geozones', { query: page(cursor) })))
    all.push(...items);
  geofences.value = all.sort((a, b) => a.properties.name.localeCompare(b.properties.name));
}

/** Forgets everything: somebody else may log in. */
export function forgetDefinitions(): void {
  fleet.clear();
  groups.value = [];
  geofences.value = [];
  loaded.value = null;
}

function page(cursor: string | undefined): { limit: number; cursor?: string } {
  return cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor };
}

/** What the live API says about a vehicle. */
export function takeRecord({ vehicleId, place, state, stateSinceMs, lastContactMs }: LiveRecord): void {
  if (place)
    fleet.move(vehicleId, {
      ...place,
      speedKmh: place.speedKmh ?? Number.NaN,
      courseDeg: place.courseDeg ?? Number.NaN,
    });
  fleet.setStatus(vehicleId, { state, sinceMs: stateSinceMs, contactMs: lastContactMs ?? 0 });
}
