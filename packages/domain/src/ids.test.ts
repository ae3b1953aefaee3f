import { expect, test } from 'vitest';
import { deriveEventId, isUuid, type VehicleId } from './ids.ts';

const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const VAN = '0190a000-0000-7000-8000-000000000002' as VehicleId;
const BEGAN = Date.UTC(2026, 0, 1, 12);

test('the same facts give the same event id', () => {
  expect(deriveEventId('speeding', CAR, '', BEGAN)).toBe(deriveEventId('speeding', CAR, '', BEGAN));
});

test('another kind, vehicle, subject or time is another event', () => {
  const ids = [
    deriveEventId('speeding', CAR, '', BEGAN),
    deriveEventId('geofence-visit', CAR, '', BEGAN),
    deriveEventId('speeding', VAN, '', BEGAN),
    deriveEventId('speeding', CAR, 'geofence', BEGAN),
    deriveEventId('speeding', CAR, '', BEGAN + 1),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

test('an event id is a UUIDv7 whose order is that of the times', () => {
  const earlier = deriveEventId('speeding', CAR, '', BEGAN);
  const later = deriveEventId('speeding', CAR, '', BEGAN + 1);
  for (const id of [earlier, later]) {
    expect(isUuid(id)).toBe(true);
    expect(id[14]).toBe('7');
    expect('89ab').toContain(id[19]);
  }
  expect(earlier < later).toBe(true);
  expect(Number.parseInt(earlier.replaceAll('-', '').slice(0, 12), 16)).toBe(BEGAN);
});

test('only the canonical lower-case form is a UUID', () => {
  expect(isUuid(CAR)).toBe(true);
  for (const text of ['', CAR.toUpperCase().replace('0190A', '0190A'), `${CAR}0`, CAR.replaceAll('-', ''), `{${CAR}}`])
    expect(isUuid(text)).toBe(text === CAR);
});
