import type { Driver, UnknownDriverCodes } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../parts/lists/pages.ts';
import { api } from '../session.ts';

const PAGE = 1000;

/** Drivers that the user may see, by name; null: not asked for yet. */
export const drivers = signal<readonly Driver[] | null>(null);
/** Why they could not be read. */
export const driversError = signal<unknown>(null);
/** Codes that terminals sent and no driver has; null: not asked for yet. */
export const unknownCodes = signal<UnknownDriverCodes['items'] | null>(null);
let reading: Promise<void> | null = null;

/** Reads the drivers, unless they are known or on their way. */
export function loadDrivers(): Promise<void> {
  if (drivers.peek() !== null) return Promise.resolve();
  reading ??= read().finally(() => {
    reading = null;
  });
  return reading;
}

/** Reads them again, where a screen has asked for them. */
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
