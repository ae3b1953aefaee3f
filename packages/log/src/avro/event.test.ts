import { ALARMS, EVENT_KINDS, type EventId, type FleetEvent, type GeofenceId, type VehicleId } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEvent, encodeEvent } from './event.ts';

const time = fc.integer({ min: 0, max: 4e12 });
const real = fc.double({ noNaN: true });
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const base = {
  id: fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<EventId>,
  phase: fc.constantFrom('begin' as const, 'end' as const),
  vehicleId: fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<VehicleId>,
  startedAtMs: time,
  endedAtMs: maybe(time),
  latitude: real,
  longitude: real,
  speedKmh: maybe(real),
  fromFixTimeMs: time,
  fixTimeMs: time,
  definitionVersion: fc.nat(),
  origin: fc.constantFrom('live' as const, 'recalculated' as const),
  inferred: fc.boolean(),
};
const geofenceId = fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<GeofenceId>;
const events: fc.Arbitrary<FleetEvent> = fc.oneof(
  fc.record({
    kind: fc.constant('geofence-visit' as const),
    ...base,
    geofenceId,
    endReason: maybe(fc.constantFrom('left', 'geofence-deleted', 'geofence-changed', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('speeding' as const),
    ...base,
    limitSource: fc.constantFrom('vehicle' as const, 'geofence' as const),
    geofenceId: maybe(geofenceId),
    limitKmh: real,
    peakKmh: real,
    meanKmh: real,
    distanceM: real,
    endReason: maybe(
      fc.constantFrom('slowed', 'left', 'limit-removed', 'geofence-deleted', 'geofence-changed', 'no-longer-watched'),
    ),
  }),
  fc.record({
    kind: fc.constant('trip' as const),
    ...base,
    startLatitude: real,
    startLongitude: real,
    distanceM: real,
    movingMs: real,
    idlingMs: real,
    maxKmh: real,
    meanKmh: real,
    endReason: maybe(fc.constantFrom('stopped', 'gap', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constantFrom('parking' as const, 'idling' as const),
    ...base,
    idlingMs: real,
    endReason: maybe(fc.constantFrom('moved', 'ignition', 'gap', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('ignition' as const),
    ...base,
    endReason: maybe(fc.constantFrom('switched-off', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('alarm' as const),
    ...base,
    alarm: fc.constantFrom(...ALARMS),
    endReason: maybe(fc.constantFrom('cleared', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('power-cut' as const),
    ...base,
    endReason: maybe(fc.constantFrom('restored', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('offline' as const),
    ...base,
    endReason: maybe(fc.constantFrom('online', 'no-longer-watched')),
  }),
) as fc.Arbitrary<FleetEvent>;

test('every kind of event is among those that are tried', () => {
  const kinds = new Set(fc.sample(events, { seed: 1, numRuns: 300 }).map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([...EVENT_KINDS].sort());
});

test('an event comes out of the log as the engine made it', () => {
  fc.assert(
    fc.property(events, (event) => {
      expect(decodeEvent(encodeEvent(event))).toEqual(event);
    }),
  );
});

test('a time between two milliseconds is written as the nearer one', () => {
  const [event] = fc.sample(events, 1);
  const between = { ...event, startedAtMs: 1000.6, endedAtMs: Number.NaN } as FleetEvent;
  expect(decodeEvent(encodeEvent(between))).toMatchObject({ startedAtMs: 1001, endedAtMs: 0 });
});

test('bytes that are no event are refused', () => {
  fc.assert(
    fc.property(events, fc.nat(), (event, cut) => {
      const bytes = encodeEvent(event);
      expect(() => decodeEvent(bytes.subarray(0, cut % bytes.length))).toThrow(Error);
    }),
  );
  expect(() => decodeEvent(Buffer.from('{"kind":"speeding"}'))).toThrow('begins no Avro record');
});
