import type { NotificationRule } from '@outrider/client';
import { expect, test } from 'vitest';
import {
  bodyOf,
  everyDay,
  fieldsOf,
  isOvernight,
  newRule,
  newSecret,
  toggled,
  trialOf,
  unknownKinds,
  withKind,
} from './draft.ts';

const RULE = {
  ...newRule('Europe/Berlin'),
  name: 'Depot',
  id: 'a',
  ownerId: 'b',
  inactiveReason: null,
  emailStates: [],
};
const rule = { ...RULE, lastNotifiedAt: null, failedDeliveries: 0 } as unknown as NotificationRule;

test('a stored rule is edited and sent back as it is', () => {
  const fields = fieldsOf(rule);
  expect(bodyOf(fields)).toEqual({ ...newRule('Europe/Berlin'), name: 'Depot' });
  expect(bodyOf({ minIntervalMinutes: null })).toEqual({ minIntervalMinutes: 0 });
  expect(bodyOf({ name: 'Yard' })).toEqual({ name: 'Yard' });
});

test('a trial has what selects events, and no more', () => {
  const trial = trialOf(
    { ...newRule('UTC'), emails: ['anna@example.org'], webhook: { url: 'https://example.org' } },
    'a',
  );
  expect(Object.keys(trial).toSorted()).toEqual(
    [
      ...['alarms', 'days', 'eventKinds', 'geofenceIds', 'groupIds', 'hours', 'maxDataAgeMinutes'],
      ...['minIntervalMinutes', 'phases', 'ruleId', 'timeZone', 'vehicleIds'],
      ...['sensors', 'minDurationMinutes', 'insideGeofenceIds', 'licenceWarningDays', 'outsideGeofenceIds'],
      ...['driver', 'driverIds', 'driverGroupIds'],
    ].toSorted(),
  );
});

test('kinds that the API does not know any more are found', () => {
  expect(unknownKinds({ eventKinds: ['geofence-enter', 'trip'] })).toEqual(['geofence-enter']);
  expect(unknownKinds(newRule('UTC'))).toEqual([]);
});

test('a list keeps its order, whatever is clicked first', () => {
  const all = ['a', 'b', 'c'];
  expect(toggled(toggled([], all, 'c'), all, 'a')).toEqual(['a', 'c']);
  expect(toggled(['a', 'c'], all, 'c')).toEqual(['a']);
});

test('a night ends on the next day', () => {
  expect(isOvernight({ from: '22:00', to: '06:00' })).toBe(true);
  expect(isOvernight({ from: '08:00', to: '18:00' })).toBe(false);
  expect(isOvernight({ from: '08:00', to: '' })).toBe(false);
});

test('days without a notification are counted as well', () => {
  expect(everyDay([{ date: '2026-03-01', count: 2 }], '2026-02-27', '2026-03-02')).toEqual([
    { date: '2026-02-27', count: 0 },
    { date: '2026-02-28', count: 0 },
    { date: '2026-03-01', count: 2 },
    { date: '2026-03-02', count: 0 },
  ]);
});

test('a new secret has 32 random bytes', () => {
  const secret = newSecret((bytes) => bytes.fill(7));
  expect(secret).toMatch(/^whsec_/);
  expect(atob(secret.slice(6))).toHaveLength(32);
});

test('a rule of driving licences has no other kind and nothing of vehicles; any other kind takes its place', () => {
  const before = { ...newRule('UTC'), vehicleIds: ['car'], minIntervalMinutes: 5, phases: ['end'] as const };
  const rule = { ...before, ...withKind(before, 'licence-expiry') };
  expect(rule).toMatchObject({ eventKinds: ['licence-expiry'], phases: ['begin'], vehicleIds: null });
  expect(rule).toMatchObject({ minIntervalMinutes: 0, licenceWarningDays: 30 });
  expect(withKind(rule, 'trip')).toEqual({ eventKinds: ['trip'] });
  expect(withKind({ eventKinds: ['trip'] }, 'parking')).toEqual({ eventKinds: ['trip', 'parking'] });
  expect(bodyOf({ licenceWarningDays: null })).toEqual({ licenceWarningDays: 0 });
});
