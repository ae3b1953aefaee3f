import { readFileSync } from 'node:fs';
import {
  EVENT_DESCRIPTIONS,
  EVENT_FORMATS,
  EVENT_KINDS,
  type EventDescription,
  type EventField,
  type EventId,
  type FleetEvent,
  type TraceId,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import avsc from 'avsc';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEvent, encodeEvent } from './event.ts';
import { EVENT_SCHEMA, eventSchema } from './event-schema.ts';
import { HEADER_BYTES, symbolOf } from './schema-file.ts';

// The oracle: the Avro library, driven by the schema file alone.
const schema = readFileSync(EVENT_SCHEMA, 'utf8');
const type = avsc.Type.forSchema(JSON.parse(schema));

const MAX_LONG = 2 ** 52;
const long = (value: number) =>
  Number.isNaN(value) ? 0 : Math.min(MAX_LONG, Math.max(-MAX_LONG, Math.round(value))) + 0;
const DESCRIPTION_OF = new Map(
  EVENT_DESCRIPTIONS.flatMap((description) => Object.keys(description.kinds).map((kind) => [kind, description])),
);

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
  const { record: name, fields } = DESCRIPTION_OF.get(kind) as EventDescription;
  for (const [field, { type, isOptional }] of Object.entries(fields)) {
    if (isOptional) record[field] ??= null;
    if (type === 'choice') record[field] = symbolOf(record[field] as string);
  }
  for (const field of ['phase', 'origin', 'endReason'])
    if (typeof record[field] === 'string') record[field] = symbolOf(record[field]);
  for (const field of ['id', 'vehicleId']) record[field] = (record[field] as string).toWellFormed();
  return { [`outrider.${name}`]: record };
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
function valuesOf({ type, values = [], isNullable }: EventField): fc.Arbitrary<unknown> {
  const arbitraries: Record<EventField['type'], fc.Arbitrary<unknown>> = {
    id: fc.uuid(),
    text: fc.string(),
    word: fc.string(),
    choice: type === 'choice' ? fc.constantFrom(...values) : fc.string(),
    number: real,
    durationMs: real,
    degrees: real,
    flag: fc.boolean(),
  };
  const some = arbitraries[type];
  return isNullable ? maybe(some) : some;
}

/** Of each description alike, what it says that its events have. */
const facts = fc.oneof(
  ...EVENT_DESCRIPTIONS.map(({ kinds, fields, requires = [], endReasons }) => {
    const own = Object.entries(fields);
    const always = {
      ...base,
      kind: fc.constantFrom(...Object.keys(kinds)),
      endReason: maybe(fc.constantFrom(...endReasons)),
      ...Object.fromEntries(own.map(([name, field]) => [name, valuesOf(field)])),
      ...(requires.includes('driverCode') && { driverCode: fc.string() }),
    };
    const isOptional = new Set(own.flatMap(([name, field]) => (field.isOptional ? [name] : [])));
    return fc.record(always, { requiredKeys: Object.keys(always).filter((name) => !isOptional.has(name)) as never[] });
  }),
) as fc.Arbitrary<unknown> as fc.Arbitrary<FleetEvent>;
const events = fc
  .tuple(facts, cause, start)
  .map(([event, known, began]) => ({ ...(event.kind === 'trip' ? {} : began), ...event, ...known }));

test('schemas/event.avsc is what the descriptions say; `npm run openapi` writes it anew', () => {
  expect(schema).toBe(eventSchema());
});

test('a change of the schema is a new version, whose predecessor can still be read', () => {
  const [event] = fc.sample(events, 1) as [FleetEvent];
  const fingerprints = [...EVENT_FORMATS, encodeEvent(event).toString('hex', 2, HEADER_BYTES)];
  expect(fingerprints).toEqual([
    'e54cf8bfaf1909d1',
    '1eeaa7ece2133285',
    '568bb775b43c6340',
    '31c9d8d5f19eae1e',
    'deb8eead8b2e9c48',
    'b5c1858bcbdefad1',
  ]);
});

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
