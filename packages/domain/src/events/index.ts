import type { Alarm } from '../position.ts';
import { type AlarmRaised, alarm } from './alarm.ts';
import type { EventBase } from './base.ts';
import type { EventDescription, EventField, KindDescription, KindWords } from './description.ts';
import { type DriverShift, driverShift } from './driver-shift.ts';
import { type FuelChange, fuelChange } from './fuel-change.ts';
import { type GeofenceVisit, geofenceVisit } from './geofence-visit.ts';
import { alarmOf, type HarshDriving, harshDriving } from './harsh-driving.ts';
import { type Ignition, ignition } from './ignition.ts';
import { type MaintenanceDue, maintenanceDue } from './maintenance-due.ts';
import { type Offline, offline } from './offline.ts';
import { type PowerCut, powerCut } from './power-cut.ts';
import { type SensorThresholdExceeded, sensorThreshold } from './sensor-threshold.ts';
import { type Speeding, speeding } from './speeding.ts';
import { type Stop, stop } from './stop.ts';
import { type Trip, trip } from './trip.ts';

export { alarmOf, alsoHarsh, type Manoeuvre, manoeuvreOf } from './harsh-driving.ts';
export type {
  AlarmRaised,
  DriverShift,
  EventBase,
  EventDescription,
  EventField,
  FuelChange,
  GeofenceVisit,
  HarshDriving,
  Ignition,
  KindDescription,
  KindWords,
  MaintenanceDue,
  Offline,
  PowerCut,
  SensorThresholdExceeded,
  Speeding,
  Stop,
  Trip,
};

/** All event descriptions, in the order of the union in `schemas/event.avsc`: new ones are appended. */
export const EVENT_DESCRIPTIONS: readonly EventDescription[] = [
  geofenceVisit,
  speeding,
  trip,
  stop,
  ignition,
  alarm,
  powerCut,
  offline,
  maintenanceDue,
  driverShift,
  fuelChange,
  sensorThreshold,
  harshDriving,
];

/**
 * Fingerprints of the versions of `schemas/event.avsc`, oldest first, as records of the log carry them. When the schema
 * changes, append the fingerprint that was in force, and give new fields and records the next version number.
 */
export const EVENT_FORMATS = [
  'e54cf8bfaf1909d1',
  '1eeaa7ece2133285',
  '568bb775b43c6340',
  '31c9d8d5f19eae1e',
  'deb8eead8b2e9c48',
] as const;

/** A fact about one vehicle that the engine or a worker derived: the record of topic `events`. */
export type FleetEvent =
  | GeofenceVisit
  | Speeding
  | Trip
  | Stop
  | Ignition
  | AlarmRaised
  | PowerCut
  | Offline
  | MaintenanceDue
  | DriverShift
  | FuelChange
  | SensorThresholdExceeded
  | HarshDriving;
export type EventKind = FleetEvent['kind'];
export type EndReason = NonNullable<FleetEvent['endReason']>;

/** The description of a kind, with that of its shape. */
export interface DescribedKind extends KindDescription {
  description: EventDescription;
}
export const DESCRIBED_KINDS = Object.fromEntries(
  EVENT_DESCRIPTIONS.flatMap((description) =>
    Object.entries(description.kinds).map(([kind, facts]) => [kind, { ...facts, description }]),
  ),
) as Readonly<Record<EventKind, DescribedKind>>;

export const EVENT_KINDS = Object.keys(DESCRIBED_KINDS) as [EventKind, ...EventKind[]];

/** All reasons for which an event can end. */
export const END_REASONS = [...new Set(EVENT_DESCRIPTIONS.flatMap(({ endReasons }) => endReasons))] as [
  EndReason,
  ...EndReason[],
];

/** Change to an event by a recalculation of the vehicle's past. */
export interface EventCorrection {
  /** The event as it is now; a removed one, as it was before. */
  event: FleetEvent;
  /** True where the event never happened. */
  removed: boolean;
}

/** Whether the event was found by a recalculation, not while the data arrived. */
export function isLate({ origin }: Pick<FleetEvent, 'origin'>): boolean {
  return origin === 'recalculated';
}

/** The alarm that is active while the event lasts; null where the event is not about an alarm. */
export function raisedAlarm(event: FleetEvent): Alarm | null {
  if (event.kind === 'alarm') return event.alarm;
  if (event.kind === 'harsh-driving') return alarmOf(event.manoeuvre);
  return event.kind === 'power-cut' ? event.kind : null;
}

/** Kinds that match the predicate. */
export function eventKindsWhere(holds: (kind: DescribedKind) => boolean): readonly EventKind[] {
  return EVENT_KINDS.filter((kind) => holds(DESCRIBED_KINDS[kind]));
}

/** Kinds that a worker creates, not the engine's rules. */
export const WORKER_EVENT_KINDS: ReadonlySet<EventKind> = new Set(
  eventKindsWhere(({ description }) => description.isOfWorker === true),
);

/** Distinguishes events of the same kind and geofence that can last at once; empty where this can't occur. */
export function eventSubjectOf(event: FleetEvent): string {
  const { subject = [] } = DESCRIBED_KINDS[event.kind].description;
  return subject.map((name) => (event as unknown as Record<string, string>)[name]).join(' ');
}
