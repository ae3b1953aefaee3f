import type { EventId, FleetEvent, GeofenceId, VehicleId } from '@outrider/domain';
import { expect, test } from 'vitest';
import { correctionsTopic } from '../topics.ts';

const vehicleId = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const EVENT: FleetEvent = {
  id: '0190a000-0000-7000-8000-000000000002' as EventId,
  kind: 'geofence-visit',
  phase: 'end',
  vehicleId,
  startedAtMs: 1_768_000_000_000,
  endedAtMs: 1_768_000_600_000,
  latitude: 59.9386,
  longitude: 30.3141,
  speedKmh: null,
  fromFixTimeMs: 1_768_000_000_000,
  fixTimeMs: 1_768_000_600_000,
  definitionVersion: 3,
  origin: 'recalculated',
  inferred: false,
  geofenceId: '0190a000-0000-7000-8000-000000000003' as GeofenceId,
  endReason: 'left',
};

test.each([true, false])('a correction is read as it was written, and kept in order by its vehicle', (removed) => {
  const correction = { event: EVENT, removed };
  expect(correctionsTopic.decode(correctionsTopic.encode(correction))).toEqual(correction);
  expect(correctionsTopic.key(correction)).toBe(vehicleId);
});

test('several that are encoded before the first is written do not share memory', () => {
  const all = [1, 2, 3].map((version) => ({ event: { ...EVENT, definitionVersion: version }, removed: false }));
  expect(all.map(correctionsTopic.encode).map((bytes) => correctionsTopic.decode(bytes))).toEqual(all);
});

test('what is no such record is refused', () => {
  const bytes = correctionsTopic.encode({ event: EVENT, removed: false });
  expect(() => correctionsTopic.decode(Buffer.from('none of it'))).toThrow();
  expect(() => correctionsTopic.decode(bytes.subarray(0, -1))).toThrow();
  // The header of the event inside.
  const at = bytes.lastIndexOf(Buffer.from('c301', 'hex'));
  const other = Buffer.from(bytes);
  other[at + 2] = (other[at + 2] ?? 0) ^ 1;
  expect(() => correctionsTopic.decode(other)).toThrow(/event\.avsc/);
  const ofAnother = Buffer.from(bytes);
  ofAnother[bytes.indexOf(Buffer.from(vehicleId))] = 0x31;
  expect(() => correctionsTopic.decode(ofAnother)).toThrow(/another/);
});
