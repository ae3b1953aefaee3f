import { expect, test } from 'vitest';
import type { DriverId, GroupId } from './ids.ts';
import { licenceExpiriesOf, licenceRuleFault } from './licence-expiry.ts';
import type { NotificationRule } from './resources/notification-rule.ts';
import { sampleRule, sampleUser } from './samples.fixture.ts';

const NORTH = 'north' as GroupId;
const owner = sampleUser({ role: 'user', groupIds: [NORTH] });
const driver = (licenceExpiresOn: string | null, id = 'anna', groupIds: readonly GroupId[] = [NORTH]) => ({
  id: id as DriverId,
  dealerId: null,
  groupIds,
  licenceExpiresOn,
});
const rule = (more: Partial<NotificationRule> = {}) =>
  sampleRule({ eventKinds: ['licence-expiry'], timeZone: 'Europe/Berlin', ...more });
const stages = (time: string, more: Partial<NotificationRule> = {}, drivers = [driver('2027-05-31')]) =>
  licenceExpiriesOf(rule(more), owner, drivers, Date.parse(time)).map(({ expiry }) => expiry.stage);

test('it is near from so many days ahead, to and with its last day, and over from the day after', () => {
  // Berlin is two hours ahead of UTC.
  expect(stages('2027-04-30T21:59:59Z')).toEqual([]);
  expect(stages('2027-04-30T22:00:00Z')).toEqual(['expires-soon']);
  expect(stages('2027-05-31T21:59:59Z')).toEqual(['expires-soon']);
  expect(stages('2027-05-31T22:00:00Z')).toEqual(['expired']);
  expect(stages('2030-01-01T00:00:00Z')).toEqual(['expired']);
  expect(stages('2027-05-24T12:00:00Z', { licenceWarningDays: 7 })).toEqual(['expires-soon']);
  expect(stages('2027-05-23T12:00:00Z', { licenceWarningDays: 7 })).toEqual([]);
  expect(stages('2027-05-31T12:00:00Z', { licenceWarningDays: 0 })).toEqual([]);
  expect(stages('2027-06-01T12:00:00Z', { licenceWarningDays: 0 })).toEqual(['expired']);
});

test('it is about the driver, the date and the stage, with one id for all rules', () => {
  const at = Date.parse('2027-05-10T12:00:00Z');
  const [one] = licenceExpiriesOf(rule(), owner, [driver('2027-05-31')], at);
  const [other] = licenceExpiriesOf(rule({ timeZone: 'Asia/Tokyo' }), owner, [driver('2027-05-31')], at);
  expect(one?.expiry).toMatchObject({ vehicleId: null, driverId: 'anna', licenceExpiresOn: '2027-05-31' });
  expect(one?.expiry.startedAtMs).toBe(Date.parse('2027-04-30T22:00:00Z'));
  expect(other?.expiry.id).toBe(one?.expiry.id);
  const ids = ['2027-05-31', '2027-05-30', '2027-05-01', '0001-01-01'].map(
    (date) => licenceExpiriesOf(rule(), owner, [driver(date)], at)[0]?.expiry.id,
  );
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('only drivers that the rule names and its owner may see count, and only what has a date', () => {
  const noon = '2027-05-10T12:00:00Z';
  const seen = driver('2027-05-31');
  const hidden = driver('2027-05-31', 'ben', []);
  expect(stages(noon, {}, [hidden, driver(null), seen])).toHaveLength(1);
  expect(stages(noon, { driverIds: ['ben' as DriverId] }, [hidden, seen])).toEqual([]);
  expect(stages(noon, { driverIds: ['anna' as DriverId] }, [hidden, seen])).toHaveLength(1);
  expect(stages(noon, { driverGroupIds: [NORTH] }, [seen])).toHaveLength(1);
  expect(stages(noon, { active: false })).toEqual([]);
  expect(stages(noon, { eventKinds: ['trip'] })).toEqual([]);
});

test('outside of its days and hours a rule waits', () => {
  const office: Partial<NotificationRule> = {
    hours: { from: '08:00', to: '17:00' },
    days: { on: 'weekdays', weekdays: ['monday'] },
  };
  expect(stages('2027-05-30T12:00:00Z', office)).toEqual([]);
  expect(stages('2027-05-31T05:59:00Z', office)).toEqual([]);
  expect(stages('2027-05-31T06:00:00Z', office)).toEqual(['expires-soon']);
});

test('a rule of licences has no other kind, and nothing of vehicles', () => {
  const fault = (more: Partial<NotificationRule>) => licenceRuleFault(rule(more))?.field ?? null;
  expect(fault({})).toBe(null);
  expect(fault({ eventKinds: ['licence-expiry', 'trip'] })).toBe('eventKinds');
  expect(fault({ phases: ['end'] })).toBe('phases');
  expect(fault({ vehicleIds: [] })).toBe('vehicleIds');
  expect(fault({ minIntervalMinutes: 5 })).toBe('minIntervalMinutes');
  expect(fault({ driver: 'known' })).toBe('driver');
  expect(fault({ eventKinds: ['trip'], vehicleIds: [] })).toBe(null);
});
