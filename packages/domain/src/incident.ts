import type { Directory } from './directory.ts';
import type { IncidentId, NotificationRuleId, UserId } from './ids.ts';
import { isoTime } from './json.ts';
import { type NotifiedEvent, notifiedEventJson } from './licence-expiry.ts';
import { mayReceive, type NotificationSubjectIds, subjectIdsOf, subjectIn } from './notification.ts';
import type { Severity } from './resources/notification-rule.ts';
import { type Caller, type Member, organisationOf } from './rights.ts';

/** `open`: not acknowledged yet. `acknowledged`: somebody works on it. `closed`: it is dealt with. */
export const INCIDENT_STATES = ['open', 'acknowledged', 'closed'] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

/** Severities that make a notification an incident. */
export type IncidentSeverity = Exclude<Severity, 'info'>;

/**
 * A matter for people to deal with. It is opened by the first notification of an event by a rule with a severity above
 * `info`.
 */
export interface Incident {
  /** Id of that notification. */
  id: IncidentId;
  /** Grows with each entry. */
  version: number;
  /** Owner of the rule. */
  ownerId: UserId;
  /** Whether accounts of the owner's organisation may deal with it too, provided that they may see the event. */
  shared: boolean;
  ruleId: NotificationRuleId;
  /** Names at the time when the incident was opened. */
  ruleName: string;
  vehicleName: string | null;
  geofenceName: string | null;
  driverName: string | null;
  severity: IncidentSeverity;
  state: IncidentState;
  /** The event as it was notified first. */
  event: NotifiedEvent;
  /** Null: unassigned. */
  assigneeId: UserId | null;
  createdAtMs: number;
  changedAtMs: number;
  acknowledgedAtMs: number | null;
  closedAtMs: number | null;
  /** When the event ended, where the rule asks for ends; null: not yet, or not asked. */
  endedAtMs: number | null;
  /** When it is escalated unless somebody acknowledges it; null: not scheduled. */
  escalateAtMs: number | null;
  /** When it was escalated last; null: never. */
  escalatedAtMs: number | null;
}

/** `ended`: the event is over. */
export const INCIDENT_ENTRY_KINDS = ['acknowledged', 'assigned', 'commented', 'escalated', 'closed', 'ended'] as const;
export type IncidentEntryKind = (typeof INCIDENT_ENTRY_KINDS)[number];

/** An entry in the history of an incident. */
export interface IncidentEntry {
  id: string;
  atMs: number;
  kind: IncidentEntryKind;
  /** Null: the service, or a deleted account. */
  createdBy: UserId | null;
  /** For `assigned`: the new assignee; null: unassigned, or a deleted account. */
  assigneeId: UserId | null;
  text: string | null;
}

/** Action of a person on an incident. */
export type IncidentAct =
  | { kind: 'acknowledged' }
  | { kind: 'assigned'; assigneeId: UserId | null }
  | { kind: 'commented'; text: string }
  | { kind: 'escalated' }
  | { kind: 'closed'; text: string | null };

/** Channel of the hub on which each change of an incident is published, as {@link IncidentNews}. */
export const INCIDENT_CHANNEL = 'incidents';

/** Message of {@link INCIDENT_CHANNEL}: the incident that changed, with the fields that decide who may see it. */
export interface IncidentNews extends Pick<Incident, 'id' | 'version' | 'severity' | 'state'>, IncidentSight {}

export function incidentNews({ id, version, ownerId, shared, severity, state, event }: Incident): IncidentNews {
  return { id, version, ownerId, shared, severity, state, ...subjectIdsOf(event) };
}

/** Fields that decide who may see an incident. */
export interface IncidentSight extends NotificationSubjectIds, Pick<Incident, 'ownerId' | 'shared'> {}

/** Number of unacknowledged incidents about the same subject. */
export interface OpenIncidents extends IncidentSight {
  count: number;
}

/**
 * Whether the account may see an incident, and so deal with it. Its owner may; where it is shared, so may the accounts
 * of the same organisation. Each must also be allowed to see what the event is about. If that was deleted, only the
 * owner sees the incident, since the rights of others can no longer be checked.
 */
export function maySeeIncident(caller: Caller & Member, incident: IncidentSight, directory: Directory): boolean {
  const { ownerId, shared, vehicleId, driverId, geofenceId } = incident;
  const subject = subjectIn(directory, incident);
  if (!mayReceive(caller, subject)) return false;
  if (ownerId === caller.id) return true;
  const owner = directory.users.get(ownerId);
  if (!shared || owner === undefined || organisationOf(caller) !== organisationOf(owner)) return false;
  const { vehicle, driver, geofence } = subject;
  return (
    (vehicleId === null || vehicle !== undefined) &&
    (driverId === null || driver !== undefined) &&
    (geofenceId === null || geofence !== undefined)
  );
}

/** An account as shown in an incident. */
export interface Colleague {
  id: UserId;
  name: string;
}

/** @param nameOf null where the account was deleted */
export function incidentJson(incident: Incident, nameOf: (id: UserId) => string | null): Record<string, unknown> {
  const { event, ownerId, assigneeId, createdAtMs, changedAtMs, ...rest } = incident;
  const { acknowledgedAtMs, closedAtMs, endedAtMs, escalateAtMs, escalatedAtMs, ...shown } = rest;
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms));
  return {
    ...shown,
    owner: colleague(ownerId, nameOf),
    assignee: colleague(assigneeId, nameOf),
    event: notifiedEventJson(event),
    createdAt: isoTime(createdAtMs),
    changedAt: isoTime(changedAtMs),
    acknowledgedAt: time(acknowledgedAtMs),
    closedAt: time(closedAtMs),
    endedAt: time(endedAtMs),
    escalateAt: time(escalateAtMs),
    escalatedAt: time(escalatedAtMs),
  };
}

export function incidentEntryJson(
  { createdBy, assigneeId, atMs, ...entry }: IncidentEntry,
  nameOf: (id: UserId) => string | null,
): Record<string, unknown> {
  return {
    ...entry,
    at: isoTime(atMs),
    by: colleague(createdBy, nameOf),
    assignee: colleague(assigneeId, nameOf),
  };
}

function colleague(id: UserId | null, nameOf: (id: UserId) => string | null): Colleague | null {
  const name = id === null ? null : nameOf(id);
  return id === null || name === null ? null : { id, name };
}
