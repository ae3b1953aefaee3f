import type { Vehicle } from '@outrider/client';
import { expect, test } from 'vitest';
import { bodyOf, draftOf, newDraft } from './draft.ts';

const vehicle: Vehicle = {
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  name: 'Van 12',
  plate: null,
  vin: null,
  terminalId: '356307042441013',
  deviceModel: 'FMB920',
  speedUnit: null,
  color: '#1f5fc4',
  icon: 'van',
  speedLimitKmh: 90,
  speedToleranceKmh: 0,
  speedingMinSeconds: 0,
  offlineAfterMinutes: 10,
  movingSpeedKmh: 2,
  movingDistanceM: 50,
  tripStopMinutes: 5,
  tripGapMinutes: 60,
  tankCapacityL: 400,
  minRefuelL: null,
  minDrainL: null,
  fuelPer100KmL: 28,
  fuelPerHourL: null,
  harshAccelerationMps2: null,
  harshBrakingMps2: null,
  harshCorneringMps2: null,
  terminalAccess: { protocol: 'teltonika', hasSecret: true, certificateSha256: null, networks: ['10.0.0.0/8'] },
  dealerId: null,
  groupIds: ['g1'],
  externalId: 'FLEET-12',
  customAttributes: { leased: true },
  sensors: [],
  suspension: null,
  historyFrom: null,
};

test('a new vehicle has the defaults of the API', () => {
  expect(newDraft({ name: 'Van' })).toMatchObject({
    name: 'Van',
    plate: null,
    color: null,
    offlineAfterMinutes: 10,
    tripStopMinutes: 5,
    protocol: 'learn',
  });
  expect(bodyOf(newDraft({ name: 'Van' }))).toMatchObject({
    name: 'Van',
    terminalAccess: { protocol: 'learn', certificateSha256: null, networks: [] },
  });
});

test('of the terminal only what was changed is sent; a secret that was not typed stays', () => {
  const draft = draftOf(vehicle);
  expect(draft).toMatchObject({ protocol: 'teltonika', secret: '', networks: '10.0.0.0/8' });
  expect(bodyOf({ plate: 'A1' })).toEqual({ plate: 'A1' });
  expect(bodyOf({ secret: '' })).toEqual({});
  expect(bodyOf({ secret: null })).toEqual({ terminalAccess: { secret: null } });
  expect(bodyOf({ secret: 'abcdefgh', networks: '10.0.0.0/8,  192.0.2.0/24 ' })).toEqual({
    terminalAccess: { secret: 'abcdefgh', networks: ['10.0.0.0/8', '192.0.2.0/24'] },
  });
});
