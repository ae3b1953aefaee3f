import type { FleetEvent } from './event.ts';
import type { VehicleId } from './ids.ts';
import type { Position } from './position.ts';

/** Unix milliseconds as ISO 8601 in UTC with milliseconds, the one form of time in the API. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A position as REST and live API show it: times as text, units in names, only the fields that are known. */
export function positionJson(vehicleId: VehicleId, position: Position): Record<string, unknown> {
  const { fixTimeMs, alarms, ...rest } = position;
  const json: Record<string, unknown> = { vehicleId, fixTime: isoTime(fixTimeMs) };
  for (const [name, value] of Object.entries(rest)) if (value !== null) json[name] = value;
  if (alarms.length > 0) json.alarms = alarms;
  return json;
}

/** An event as REST and live API show it: `startedAt`, `endedAt` and `fixTime` as text, everything else as it is. */
export function eventJson(event: FleetEvent): Record<string, unknown> {
  const { startedAtMs, endedAtMs, fixTimeMs, ...rest } = event;
  return {
    ...rest,
    startedAt: isoTime(startedAtMs),
    endedAt: endedAtMs === null ? null : isoTime(endedAtMs),
    fixTime: isoTime(fixTimeMs),
  };
}
