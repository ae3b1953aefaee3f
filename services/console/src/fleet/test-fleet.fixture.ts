import type { Vehicle } from '@outrider/client';
import { Fleet, type Status } from './fleet.ts';

export function vehicle(id: string, more: Partial<Vehicle> = {}): Vehicle {
  return {
    id,
    name: id,
    plate: null,
    terminalId: null,
    color: null,
    icon: null,
    groupIds: [],
    suspension: null,
    ...more,
  } as Vehicle;
}

/** A fleet with vehicles at places, all fixed at one second. */
export function fleetAt(places: Record<string, readonly [longitude: number, latitude: number]>): Fleet {
  const fleet = new Fleet();
  fleet.define(Object.keys(places).map((id) => vehicle(id)));
  for (const [id, [longitude, latitude]] of Object.entries(places)) moveTo(fleet, id, longitude, latitude, 1000, 0);
  return fleet;
}

export function moveTo(fleet: Fleet, id: string, longitude: number, latitude: number, fixMs: number, nowMs: number) {
  fleet.move(id, { longitude, latitude, fixMs, speedKmh: 50, courseDeg: 90 }, nowMs);
}

export function setState(fleet: Fleet, id: string, state: Status['state'], contactMs = 1000): void {
  fleet.setStatus(id, { state, sinceMs: 0, contactMs });
}

export const LINES = { headers: { 'content-type': 'application/x-ndjson' } };

/** A list as the API answers it whole. */
export function linesResponse(items: readonly unknown[]): Response {
  const lines = items.map((item) => `${JSON.stringify(item)}\n`).join('');
  return new Response(lines, LINES);
}
