import { readFileSync } from 'node:fs';
import {
  ALARMS,
  EVENT_KINDS,
  type EventId,
  type FleetEvent,
  type GeofenceId,
  type MaintenancePlanId,
  type SensorId,
  type TraceId,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import avsc from 'avsc';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEvent, encodeEvent } from './event.ts';
import { HEADER_BYTES, symbolOf } from './schema-file.ts';

// The oracle: the Avro library, driven by the schema file alone.
const type = avsc.Type.forSchema(
  JSON.parse(readFileSync(new URL('../../../../schemas/event.avsc', import.meta.url), 'utf8')),
);

const MAX_LONG = 2 ** 52;
const long = (value: number) =>
  Number.isNaN(value) ? 0 : Math.min(MAX_LONG, Math.max(-MAX_LONG, Math.round(value))) + 0;
const RECORDS = {
  'geofence-visit': 'GeofenceVisit',
  speeding: 'Speeding',
  trip: 'Trip',
  parking: 'Stop',
  idling: 'Stop',
  ignition: 'Ignition',
  alarm: 'AlarmRaised',
  'power-cut': 'PowerCut',
  offline: 'Offline',
  'maintenance-due': 'MaintenanceDue',
  'driver-shift': 'DriverShift',
  refuelling: 'FuelChange',
  'fuel-drain': 'FuelChange',
  'sensor-threshold': 'SensorThresholdExceeded',
} as const satisfies Record<FleetEvent['kind'], string>;

/** The record of an event: its fields under the schema's names. */
function toAvro(event: FleetEvent) {
  const { kind, startedAtMs, endedAtMs, fromFixTimeMs, fixTimeMs, receivedAtMs, traceId, ...same } = event;
  const record: Record<string, unknown> = {
    startLatitude: null,
    startLongitude: null,
    driverCode: null,
    ...same,
    kind: symbolOf(kind),
    startedAt: long(startedAtMs),
    endedAt: endedAtMs === null ? null : long(endedAtMs),
    fromFixTime: long(fromFixTimeMs),
    fixTime: long(fixTimeMs),
    receivedAt: receivedAtMs === undefined ? null : long(receivedAtMs),
    traceId: traceId === undefined ? null : Buffer.from(traceId, 'hex'),
  };
  for (const name of ['phase', 'origin', 'endReason', 'limitSource', 'alarm', 'stage', 'cause', 'condition'])
    if (typeof record[name] === 'string') record[name] = symbolOf(record[name]);
  for (const name of ['id', 'vehicleId', 'geofenceId'])
    if (typeof record[name] === 'string') record[name] = record[name].toWellFormed();
  return { [`outrider.${RECORDS[kind]}`]: record };
}

const time = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 4e12 }) },
  fc.integer({ min: -300, max: 300 }),
  fc.constantFrom(-1, 2 ** 27, 2 ** 28, 2 ** 31, 2 ** 32, MAX_LONG, -MAX_LONG),
);
const real = fc.double({ noNaN: true });
/** Nearly always a UUID; its length may be anything. */
const anyText = fc.oneof(
  { weight: 5, arbitrary: fc.uuid() },
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 60, maxLength: 70 }),
  fc.constantFrom('', '\ud800', 'Ж'.repeat(40), 'x'.repeat(64)),
);
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
const start = fc.record({ startLatitude: real, startLongitude: real, driverCode: fc.string() }, { requiredKeys: [] });
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
  fc.record({
    kind: fc.constant('maintenance-due' as const),
    ...base,
    planId: fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<MaintenancePlanId>,
    planName: fc.string(),
    stage: fc.constantFrom('warning' as const, 'due' as const),
    cause: fc.constantFrom('distance' as const, 'engine-hours' as const, 'days' as const, 'counter' as const),
    endReason: maybe(fc.constantFrom('due', 'serviced', 'corrected', 'plan-changed', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('driver-shift' as const),
    ...base,
    driverCode: fc.string(),
    endReason: maybe(fc.constantFrom('card-removed', 'other-driver', 'parked', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constantFrom('refuelling' as const, 'fuel-drain' as const),
    ...base,
    volumeL: real,
    levelBeforeL: real,
    levelAfterL: real,
    whileMoving: fc.boolean(),
    endReason: maybe(fc.constantFrom('settled', 'no-longer-watched')),
  }),
  fc.record({
    kind: fc.constant('sensor-threshold' as const),
    ...base,
    sensorId: fc.uuid() as fc.Arbitrary<string> as fc.Arbitrary<SensorId>,
    sensorName: fc.string(),
    sensorKind: fc.constantFrom('temperature' as const, 'fuel-level' as const),
    unit: fc.string(),
    thresholdId: fc.uuid(),
    condition: fc.constantFrom('above' as const, 'below' as const, 'inside' as const, 'outside' as const),
    min: maybe(fc.double({ noNaN: true })),
    max: maybe(fc.double({ noNaN: true })),
    value: fc.double({ noNaN: true }),
    peakValue: fc.double({ noNaN: true }),
    endReason: maybe(fc.constantFrom('returned', 'gap', 'sensor-changed', 'no-longer-watched')),
  }),
) as fc.Arbitrary<FleetEvent>;
const events = fc
  .tuple(facts, cause, start)
  .map(([event, known, began]) => ({ ...(event.kind === 'trip' ? {} : began), ...event, ...known }));

test('every kind of event is among those that are tried', () => {
  const kinds = new Set(fc.sample(events, { seed: 1, numRuns: 300 }).map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([...EVENT_KINDS].sort());
});

test('an event comes out of the log as the engine made it', () => {
  fc.assert(
    fc.property(events, (event) => {
      expect(decodeEvent(encodeEvent(event))).toEqual(event);
    }),
    { numRuns: runs(500) },
  );
});

test('the bytes are those that the Avro library writes with the schema file', () => {
  const texts = fc.tuple(events, anyText, anyText, fc.oneof(time, fc.double()));
  fc.assert(
    fc.property(texts, ([event, id, vehicleId, startedAtMs]) => {
      const any = { ...event, id, vehicleId, startedAtMs } as FleetEvent;
      expect(
        encodeEvent(any)
          .subarray(HEADER_BYTES)
          .equals(type.toBuffer(toAvro(any))),
      ).toBe(true);
    }),
    { numRuns: runs(1000) },
  );
});

test('what the Avro library wrote is read back', () => {
  const [some] = fc.sample(events, 1) as [FleetEvent];
  const header = Buffer.from(encodeEvent(some).subarray(0, HEADER_BYTES));
  fc.assert(
    fc.property(events, (event) => {
      expect(decodeEvent(Buffer.concat([header, type.toBuffer(toAvro(event))]))).toEqual(event);
    }),
    { numRuns: runs(500) },
  );
});

test('events fit at every place of the memory that they are written into', () => {
  const known = fc.sample(events, { seed: 7, numRuns: 300 });
  const bytes = known.map((event) => Buffer.from(encodeEvent(event)));
  for (let round = 0; round < 20; round++)
    known.forEach((event, i) => {
      // The views that were handed out before must not change, and this one must be whole.
      expect(encodeEvent(event).equals(bytes[i] as Buffer)).toBe(true);
    });
  const long = { ...known[0], id: 'Ж'.repeat(200_000) } as FleetEvent;
  expect(decodeEvent(encodeEvent(long))).toEqual(long);
});

test('a name that the schema does not know is not written', () => {
  for (const wrong of [{ phase: 'middle' }, { origin: 'dreamt' }, { endReason: 'bored' }, { traceId: 'xyz' }]) {
    const [event] = fc.sample(events, 1);
    expect(() => encodeEvent({ ...event, ...wrong } as unknown as FleetEvent)).toThrow(Error);
  }
  // What was begun of it is not in the next.
  const [event] = fc.sample(events, 1) as [FleetEvent];
  expect(decodeEvent(encodeEvent(event))).toEqual(event);
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

test('events from before it was kept where they began are read without it', () => {
  const earlier = [
    'wwEe6qfs4hMyhQBIMDE5YjdkMmYtOGI2MC03MDAwLTgwMDAtMDAwMDAwMDAwMGUxAEgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDGAnreT72YAAAAAAADgS0CuR+F6FM5CQAIAAAAAAEBOQICet5PvZoDY7pbvZgYAAEgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwZjEAAoDY7pbvZgIBI0VniavN7wEjRWeJq83v',
    'wwEe6qfs4hMyhQRIMDE5YjdkMmYtOGI2MC03MDAwLTgwMDAtMDAwMDAwMDAwMGUxAkgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDGAnreT72YCgNjulu9mAAAAAADgS0CuR+F6FM5CQAIAAAAAAEBOQICet5PvZoDY7pbvZgYAAAAAAAAAwEtAAAAAAADAQkAAAAAAAECPQAAAAAAATO1AAAAAAAAAAAAAAAAAAIBRQAAAAAAAAE5AAgACgNjulu9mAgEjRWeJq83vASNFZ4mrze8=',
    'wwEe6qfs4hMyhQhIMDE5YjdkMmYtOGI2MC03MDAwLTgwMDAtMDAwMDAwMDAwMGUxAkgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDGAnreT72YCgNjulu9mAAAAAADgS0CuR+F6FM5CQAIAAAAAAEBOQICet5PvZoDY7pbvZgYAAAIAAoDY7pbvZgIBI0VniavN7wEjRWeJq83v',
  ].map((base64) => Buffer.from(base64, 'base64'));
  const [visit, trip, ignition] = earlier.map(decodeEvent);
  expect(visit).toMatchObject({ kind: 'geofence-visit', traceId: '0123456789abcdef0123456789abcdef' });
  expect(visit).not.toHaveProperty('startLatitude');
  expect(trip).toMatchObject({ kind: 'trip', startLatitude: 55.5, startLongitude: 37.5, distanceM: 1000 });
  expect(ignition).toMatchObject({ kind: 'ignition', receivedAtMs: Date.UTC(2026, 0, 1, 12) });
  expect(ignition).not.toHaveProperty('startLatitude');
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

test('damaged bytes are refused, or are what the Avro library reads in them', () => {
  const damage = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), twice: fc.boolean() });
  fc.assert(
    fc.property(events, damage, (event, { at, byte, twice }) => {
      const bytes = Buffer.from(encodeEvent(event));
      const place = HEADER_BYTES + (at % (bytes.length - HEADER_BYTES));
      bytes[place] = byte;
      const damaged = twice ? Buffer.concat([bytes.subarray(0, place), bytes.subarray(place - 1)]) : bytes;
      let read: FleetEvent;
      try {
        read = decodeEvent(damaged);
      } catch (error) {
        expect(String(error)).toContain('not a record');
        return;
      }
      let known: ReturnType<typeof toAvro>;
      try {
        known = type.fromBuffer(damaged.subarray(HEADER_BYTES));
      } catch (error) {
        // A long that JavaScript's numbers don't hold exactly is the one thing that it takes and the library does not.
        expect(String(error)).toContain('precision loss');
        return;
      }
      const longs = [read.startedAtMs, read.endedAtMs, read.fromFixTimeMs, read.fixTimeMs, read.definitionVersion];
      // What is beyond what is ever written is not written again as it was read.
      if ([...longs, read.receivedAtMs].some((value) => Math.abs(value ?? 0) > MAX_LONG)) return;
      // Written again both are the same, though a number may have been written longer than it had to be.
      expect(type.toBuffer(toAvro(read)).equals(type.toBuffer(known))).toBe(true);
    }),
    { numRuns: runs(2000) },
  );
});

test('a length that was damaged keeps nobody busy', () => {
  // Of one event in thousands, what follows a number that was put in happens to be a record as well.
  const [event] = fc.sample(events, { numRuns: 1, seed: 2 }) as [FleetEvent];
  const bytes = Buffer.from(encodeEvent(event));
  for (let at = HEADER_BYTES; at < bytes.length; at++)
    for (const number of [Buffer.of(0xfe, 0xff, 0xff, 0xff, 0x0f), Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)])
      expect(() => decodeEvent(Buffer.concat([bytes.subarray(0, at), number, bytes.subarray(at)]))).toThrow(Error);
});
