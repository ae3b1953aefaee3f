import type { UserId } from '@outrider/domain';
import type { GeofenceFields, NotificationRuleFields, UserFields, VehicleFields } from './index.ts';

/** An id that nothing has. */
export const ABSENT = '00000000-0000-7000-8000-000000000000';
/** The whole of a list that is not long. */
export const ALL = { limit: 1000, after: null };
export const PASSWORD = 'a long password';

export function userFields(login: string, more: Partial<UserFields> = {}): UserFields {
  const always = { name: `Name of ${login}`, dealerId: null, blocked: false, apiAccess: true, groupIds: [] };
  return { login, role: 'user', ...always, ...more };
}

export function vehicleFields(name: string, more: Partial<VehicleFields> = {}): VehicleFields {
  return {
    name,
    plate: null,
    terminalId: null,
    dealerId: null,
    groupIds: [],
    speedLimitKmh: null,
    speedToleranceKmh: 0,
    speedingMinSeconds: 0,
    offlineAfterMinutes: 10,
    movingSpeedKmh: 2,
    movingDistanceM: 50,
    tripStopMinutes: 5,
    tripGapMinutes: 60,
    ...more,
  };
}

export function geofenceFields(name: string, ownerId: UserId): GeofenceFields {
  return {
    name,
    ownerId,
    shape: { type: 'circle', center: [30.25, 59.93], radiusM: 150.5 },
    groupIds: null,
    speedLimitKmh: null,
    minDwellSeconds: 0,
  };
}

/** A rule of everything there is. */
export function ruleFields(name: string, ownerId: UserId): NotificationRuleFields {
  return {
    name,
    ownerId,
    active: true,
    eventKinds: ['speeding'],
    phases: ['begin'],
    vehicleIds: null,
    groupIds: null,
    geofenceIds: null,
    days: { on: 'daily' },
    hours: null,
    timeZone: 'UTC',
    minIntervalMinutes: 0,
    maxDataAgeMinutes: null,
    emails: [],
    webhookUrl: null,
  };
}
