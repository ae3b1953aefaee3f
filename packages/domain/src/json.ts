import type { ShownCounter, VehicleCounters } from './counters.ts';
import { EVENT_DESCRIPTIONS, type EventCorrection, type FleetEvent } from './events/index.ts';
import type { VehicleId } from './ids.ts';
import type { Position } from './position.ts';
import { MAX_AHEAD_LIVE_MS } from './quality.ts';
import type { TankLevel, VehicleStatus } from './vehicle-status.ts';

/** Unix milliseconds as ISO 8601 in UTC with milliseconds: the only time format of the API. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** Optional fields of a position in the order in which they are shown. */
const SHOWN = [
  'latitude',
  'longitude',
  'valid',
  'speedKmh',
  'courseDeg',
  'altitudeM',
  'satellites',
  'ignition',
  'odometerM',
  'supplyV',
  'fuelL',
] as const satisfies (keyof Position)[];

/** A position as REST and live API show it: times as text, units in the names, only known fields. */
export function positionJson(vehicleId: VehicleId, position: Position): Record<string, unknown> {
  const json: Record<string, unknown> = { vehicleId, fixTime: isoTime(position.fixTimeMs) };
  for (const name of SHOWN) {
    const value = position[name];
    if (value !== null) json[name] = value;
  }
  if (position.alarms.length > 0) json.alarms = position.alarms;
  if (position.attributes !== null) json.attributes = position.attributes;
  return json;
}

/** Rounds away the floating-point noise in the last digits. */
export function readableNumber(value: number): number {
  return Number(value.toPrecision(9));
}

/** The state of a vehicle as REST and live API show it, without its position; unknown values are null. */
export function vehicleStateJson({
  vehicleId,
  lastContactAtMs,
  protocol,
  record,
  recordReceivedAtMs,
  activity,
  sensors = [],
  tank,
}: VehicleStatus) {
  const aheadMs = record.fixTimeMs - recordReceivedAtMs;
  return {
    vehicleId,
    state: activity?.state ?? 'unknown',
    stateSince: activity === null || activity.sinceMs === null ? null : isoTime(activity.sinceMs),
    online: activity && activity.state !== 'offline',
    lastContactAt: isoTime(lastContactAtMs),
    protocol,
    recordTime: isoTime(record.fixTimeMs),
    clockAheadSeconds: aheadMs > MAX_AHEAD_LIVE_MS ? Math.round(aheadMs / 1000) : null,
    ignition: activity?.ignition ?? record.ignition,
    supplyV: record.supplyV,
    fuelL: record.fuelL,
    alarms: [...(activity?.alarms ?? record.alarms)],
    attributes: record.attributes,
    sensors: sensors.map(({ value, atMs, exceeded, ...sensor }) => ({
      ...sensor,
      value: readableNumber(value),
      at: isoTime(atMs),
      exceeded: [...exceeded],
    })),
    tank: tank === undefined ? null : tankJson(tank),
  };
}

/** The level of a tank as REST and live API show it. */
export function tankJson({ levelL, capacityL, atMs, change }: TankLevel) {
  const tenths = (value: number) => Math.round(value * 10) / 10;
  return {
    levelL: tenths(levelL),
    percent: tenths((100 * levelL) / capacityL),
    at: isoTime(atMs),
    change: change ?? null,
  };
}

const HOUR_MS = 3_600_000;

/** A custom counter as REST and live API show it. */
export function shownCounterJson(counter: ShownCounter) {
  const { id, version, name, unit, source, sensorId, startsAtMs, value } = counter;
  const startsAt = isoTime(startsAtMs);
  return { id, version, name, unit, source, sensorId, startsAt, value: Math.round(value * 1000) / 1000 };
}

/** The counters of a vehicle as REST and live API show them. */
export function vehicleCountersJson({ vehicleId, atMs, odometerM, engineMs, custom, settled }: VehicleCounters) {
  return {
    vehicleId,
    at: atMs === 0 ? null : isoTime(atMs),
    odometerM: Math.round(odometerM),
    engineHours: Math.round((engineMs / HOUR_MS) * 1000) / 1000,
    custom: custom.map(shownCounterJson),
    settled,
  };
}

/** Fields of events that are durations. */
const DURATIONS = new Set(
  EVENT_DESCRIPTIONS.flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([name, { type }]) => (type === 'durationMs' ? [name] : [])),
  ),
);

/** Name of an event's field in the APIs. */
export function shownNameOf(field: string): string {
  return DURATIONS.has(field) ? field.replace(/Ms$/, 'Seconds') : field;
}

/**
 * An event as REST and live API show it: times as text, durations in seconds as in reports, everything else unchanged.
 */
export function eventJson(event: FleetEvent): Record<string, unknown> {
  const { startedAtMs, endedAtMs, fromFixTimeMs, fixTimeMs, receivedAtMs, ...rest } = event;
  const json: Record<string, unknown> = { ...rest };
  for (const name of DURATIONS) {
    const { [name]: ms } = json;
    if (typeof ms !== 'number') continue;
    delete json[name];
    json[shownNameOf(name)] = Math.round(ms) / 1000;
  }
  return {
    ...json,
    ...(receivedAtMs === undefined ? {} : { receivedAt: isoTime(receivedAtMs) }),
    startedAt: isoTime(startedAtMs),
    endedAt: endedAtMs === null ? null : isoTime(endedAtMs),
    fromFixTime: isoTime(fromFixTimeMs),
    fixTime: isoTime(fixTimeMs),
  };
}

/** An event after a recalculation; one that never happened has the phase `removed`. */
export function correctionJson({ event, removed }: EventCorrection): Record<string, unknown> {
  return { ...eventJson(event), ...(removed ? { phase: 'removed' } : {}), origin: 'recalculated' };
}
