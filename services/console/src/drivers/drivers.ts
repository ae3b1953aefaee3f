import type { Driver, UnknownDriverCodes } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../parts/lists/pages.ts';
import { api } from '../session.ts';

const PAGE = 1000;

/** Drivers that the user may see, by name; null: not asked for yet. */
export const drivers = signal<readonly Driver[] | null>(null);
/** Why the drivers could not be loaded. */
export const driversError = signal<unknown>(null);
/** Codes that terminals sent and that belong to no driver; null: not loaded yet. */
export const unknownCodes = signal<UnknownDriverCodes['items'] | null>(null);
let reading: Promise<void> | null = null;

/** Loads the drivers, unless they are loaded or loading. */
export function loadDrivers(): Promise<void> {
  if (drivers.peek() !== null) return Promise.resolve();
  reading ??= read().finally(() => {
    reading = null;
  });
  return reading;
}

/** Loads the drivers again, if a screen has loaded them before. */
export async function rereadDrivers(): Promise<void> {
  if (drivers.peek() !== null) await read();
}

export function forgetDrivers(): void {
  drivers.value = null;
  driversError.value = null;
  unknownCodes.value = null;
}

export async function loadUnknownCodes(signal?: AbortSignal): Promise<void> {
  unknownCodes.value = (await api.get('/api/v1/unknown-driver-codes', signal ? { signal } : {})).items;
}

async function read(): Promise<void> {
  try {
    drivers.value = await allPages((cursor) =>
      api.get('/api/v1/drivers', { query: { limit: PAGE, sort: 'name', ...cursor } }),
    );
    driversError.value = null;
  } catch (error) {
    driversError.value = error;
  }
}
