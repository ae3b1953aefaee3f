import {
  ALARMS,
  EVENT_KINDS,
  type EventId,
  type FleetEvent,
  type GeofenceId,
  type TraceId,
  type VehicleId,
} from '@outrider/domain';
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
/** What brought it about, as far as it is known. */
const cause = fc.record(
  {
    receivedAtMs: time,
    traceId: fc.uuid().map((text) => text.replaceAll('-', '') as TraceId),
  },
  { requiredKeys: [] },
);
const geofenceId = fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<GeofenceId>;
const facts = fc.oneof(
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
const events = fc.tuple(facts, cause).map(([event, known]) => ({ ...event, ...known }));

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

test('events from before it was known what brought them about are read without it', () => {
  const earlier = [
    'wwHlTPi/rxkJ0QBIMDE5YjdkMmYtOGI2MC03MDAwLTgwMDAtMDAwMDAwMDAwMGUxAEgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDGAnreT72YAAAAAAADgS0CuR+F6FM5CQAIAAAAAAEBOQICet5PvZoDY7pbvZgYAAEgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwZjEA',
    'wwHlTPi/rxkJ0Q5IMDE5YjdkMmYtOGI2MC03MDAwLTgwMDAtMDAwMDAwMDAwMGUxAkgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDGAnreT72YCgNjulu9mAAAAAADgS0CuR+F6FM5CQAIAAAAAAEBOQICet5PvZoDY7pbvZgYAAAIA',
    'wwHlTPi/rxkJ0QhIMDE5YjdkMmYtOGI2MC03MDAwLTgwMDAtMDAwMDAwMDAwMGUxAkgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDGAnreT72YCgNjulu9mAAAAAADgS0CuR+F6FM5CQAIAAAAAAEBOQICet5PvZoDY7pbvZgYAAAIA',
  ].map((base64) => Buffer.from(base64, 'base64'));
  const base = {
    id: '019b7d2f-8b60-7000-8000-0000000000e1',
    vehicleId: '018f4c1e-7a00-7000-8000-000000000001',
    startedAtMs: Date.UTC(2026, 0, 1, 11),
    latitude: 55.75,
    longitude: 37.61,
    speedKmh: 60.5,
    fromFixTimeMs: Date.UTC(2026, 0, 1, 11),
    fixTimeMs: Date.UTC(2026, 0, 1, 12),
    definitionVersion: 3,
    origin: 'live',
    inferred: false,
  };
  const end = { ...base, phase: 'end', endedAtMs: Date.UTC(2026, 0, 1, 12) };
  expect(earlier.map(decodeEvent)).toEqual([
    {
      ...base,
      kind: 'geofence-visit',
      phase: 'begin',
      endedAtMs: null,
      geofenceId: '018f4c1e-7a00-7000-8000-0000000000f1',
      endReason: null,
    },
    { ...end, kind: 'offline', endReason: 'online' },
    { ...end, kind: 'ignition', endReason: 'switched-off' },
  ]);
  for (const bytes of earlier)
    for (let length = 0; length < bytes.length; length++)
      expect(() => decodeEvent(bytes.subarray(0, length))).toThrow(Error);
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
