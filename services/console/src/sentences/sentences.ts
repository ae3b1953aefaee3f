import type { LicenceExpiry, Notification, PublishedEvent } from '@outrider/client';
import type { Language } from '@outrider/words';
import { type EventFacts, eventSentence } from '@outrider/words/sentences';
import { fleet, geofences } from '../fleet/store.ts';
import { formats } from '../format.ts';
import { preferences } from '../preferences.ts';
import { joined, language } from '../words/words.ts';
import { sentenceWords } from './words.ts';

/** Fields that some kinds of event have. */
export interface OwnFields {
  alarm?: unknown;
  geofenceId?: unknown;
}

/** Whether the event is about a driver's licence. Such an event has no vehicle. */
export function isLicence(event: Notification['event']): event is LicenceExpiry {
  return event.vehicleId === null;
}

/** Describes a notification as in e-mails: “Van 7 left Depot after 25 s”. */
export function describe({
  vehicleName,
  geofenceName,
  driverName,
  event,
}: Pick<Notification, 'vehicleName' | 'geofenceName' | 'driverName' | 'event'>): string {
  if (!isLicence(event)) return describeEvent(event, vehicleName, geofenceName);
  const { kind, phase, stage, licenceExpiresOn } = event;
  return sentence({ kind, phase, stage, licenceExpiresOn, driverName, vehicleName, ...timesOf(event) });
}

/** Describes an event with the names of its vehicle and geofence, as far as the user sees them. */
export function describeEvent(event: PublishedEvent, vehicleName: string | null, geofenceName: string | null): string {
  return sentence({ ...factsOf(event), vehicleName, geofenceName, ...timesOf(event) });
}

/** Describes an event with the names that this page knows. */
export function describeLive(event: PublishedEvent): string {
  const { vehicleName, geofenceName } = namesOf(event);
  return describeEvent(event, vehicleName, geofenceName);
}

/** The names that this page knows. */
export function namesOf(event: PublishedEvent): { vehicleName: string | null; geofenceName: string | null } {
  const { geofenceId } = event as PublishedEvent & OwnFields;
  const vehicle = fleet.vehicles[fleet.indexOf(event.vehicleId)];
  const geofence = geofenceId && geofences.value.find(({ id }) => id === geofenceId);
  return { vehicleName: vehicle?.name ?? null, geofenceName: geofence ? geofence.properties.name : null };
}

/** The facts of a sentence have the same names as the event's fields. */
function factsOf(event: PublishedEvent): EventFacts {
  return event as unknown as EventFacts;
}

function timesOf({ startedAt, endedAt }: Pick<PublishedEvent | LicenceExpiry, 'startedAt' | 'endedAt'>) {
  return { startedAtMs: Date.parse(startedAt), endedAtMs: endedAt === null ? null : Date.parse(endedAt) };
}

function sentence(facts: EventFacts): string {
  return eventSentence(facts, {
    ...sentenceWords(),
    language: language.value as Language,
    units: preferences.value.units,
    quoted: (name) => joined([name]),
    day: (date) => formats().calendarDate(date),
  });
}
