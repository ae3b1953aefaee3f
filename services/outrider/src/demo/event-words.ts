import { eventSentence, type NotificationFacts } from '@outrider/channels';
import type { GeofenceId, VehicleId } from '@outrider/domain';

/** Names by id, for printing events. */
export interface Names {
  vehicles: Map<VehicleId, string>;
  geofences: Map<GeofenceId, string>;
}

/** What the demo reads of an event of the live API. */
export interface LiveMessage extends Omit<NotificationFacts, 'vehicleName' | 'startedAtMs' | 'endedAtMs'> {
  type: string;
  vehicleId: VehicleId;
  geofenceId?: GeofenceId | null;
  startedAt: string;
  endedAt: string | null;
}

const READER = { language: 'en', timeZone: 'UTC', units: 'metric' } as const;

/** `12:00:07  'Van 3 AB 123' entered 'Depot'`. */
export function inWords(event: LiveMessage, { vehicles, geofences }: Names): string {
  const { vehicleId, geofenceId, startedAt, endedAt } = event;
  const facts = {
    ...event,
    vehicleName: vehicles.get(vehicleId) ?? vehicleId,
    geofenceName: geofenceId ? (geofences.get(geofenceId) ?? geofenceId) : null,
    startedAtMs: Date.parse(startedAt),
    endedAtMs: endedAt === null ? null : Date.parse(endedAt),
  };
  return `${(endedAt ?? startedAt).slice(11, 19)}  ${eventSentence(facts, READER)}`;
}
