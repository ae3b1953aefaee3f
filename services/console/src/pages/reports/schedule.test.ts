import { expect, test } from 'vitest';
import { addressesIn, bodyOfSchedule, newFields } from './schedule.ts';

const NAMED = { name: 'Week', format: null, language: 'de' };

test('a new schedule says what was asked, and nothing else', () => {
  const fields = {
    ...newFields(null, { columns: null, groupBy: null }, NAMED, 'Europe/Berlin', null),
    emails: ['a@example.com'],
  };
  expect(bodyOfSchedule(fields, true)).toEqual({
    ...{ name: 'Week', kind: 'fleet-digest', format: 'pdf', frequency: 'daily', hour: 6, covers: 'yesterday' },
    language: 'de',
    ...{ timeZone: 'Europe/Berlin', emails: ['a@example.com'], active: true },
  });
  expect(bodyOfSchedule({ ...fields, vehicleIds: ['a'] }, true)).toMatchObject({ vehicleIds: ['a'] });
});

test('a change sends what changed; another kind gives up the parameters of the one before', () => {
  expect(bodyOfSchedule({ hour: '7' }, false)).toEqual({ hour: 7 });
  expect(bodyOfSchedule({ vehicleIds: [], groupId: 'g' }, false)).toEqual({
    vehicleIds: null,
    vehicleId: null,
    groupId: 'g',
  });
  expect(bodyOfSchedule({ kind: 'mileage', period: 'week' }, false)).toEqual({
    ...{ kind: 'mileage', period: 'week', eventKinds: null, geozoneId: null, maxPoints: null },
    ...{ workHours: null, ecoWeights: null, sensors: null, driverIds: null, columns: null, groupBy: null },
  });
  expect(bodyOfSchedule({ format: 'csv' }, false)).toEqual({ format: 'csv', groupBy: null });
});

test('addresses stand apart by commas, semicolons or spaces', () => {
  expect(addressesIn(' a@example.com, b@example.com;c@example.com\n')).toEqual([
    'a@example.com',
    'b@example.com',
    'c@example.com',
  ]);
  expect(addressesIn('')).toEqual([]);
});
