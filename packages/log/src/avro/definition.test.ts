import { readFileSync } from 'node:fs';
import {
  type Definition,
  type DefinitionChange,
  DRIVER_FIELDS,
  type FieldTable,
  fieldsIn,
  GEOFENCE_FIELDS,
  GROUP_FIELDS,
  INACTIVE_REASONS,
  type PlainField,
  VEHICLE_FIELDS,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import avsc from 'avsc';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { definitionsTopic } from '../topics.ts';
import { decodeDefinitionChange, encodeDefinitionChange } from './definition.ts';
import { HEADER_BYTES } from './schema-file.ts';

const real = fc.double({ noNaN: true });
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const id = fc.uuid();
const ids = fc.array(id, { maxLength: 5 });
const point = fc.tuple(real, real);
const shape = fc.oneof(
  fc.record({ type: fc.constant('polygon'), rings: fc.array(fc.array(point, { maxLength: 6 }), { maxLength: 3 }) }),
  fc.record({
    type: fc.constant('multipolygon'),
    polygons: fc.array(fc.array(fc.array(point, { maxLength: 6 }), { maxLength: 3 }), { maxLength: 3 }),
  }),
  fc.record({ type: fc.constant('circle'), center: point, radiusM: real }),
  fc.record({ type: fc.constant('line'), path: fc.array(point, { maxLength: 6 }), widthM: real }),
);
const attributes = fc.dictionary(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,5}$/),
  fc.oneof(fc.string(), real, fc.boolean()),
  { maxKeys: 4, noNullPrototype: true },
);
const custom = { externalId: maybe(fc.string()), customAttributes: attributes };
const anyOf = (field: PlainField): fc.Arbitrary<unknown> => {
  if (field.type === 'number') return field.isWhole ? fc.integer({ min: field.min, max: field.max }) : real;
  return field.type === 'flag' ? fc.boolean() : fc.string({ unit: 'binary' });
};
const plain = (table: FieldTable): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(
    fieldsIn(table).map(([name, field]) => [name, field.default === null ? maybe(anyOf(field)) : anyOf(field)]),
  );
const definitions = fc.oneof(
  fc.record({
    kind: fc.constant('user'),
    id,
    version: fc.nat(),
    login: fc.string(),
    name: fc.string({ unit: 'binary' }),
    role: fc.constantFrom('operator', 'dealer', 'user'),
    dealerId: maybe(id),
    blocked: fc.boolean(),
    apiAccess: fc.boolean(),
    services: fc.subarray(['video']),
    rights: fc.subarray(['edit-vehicles', 'share']),
    groupIds: ids,
    ...custom,
  }),
  fc.record({
    kind: fc.constant('vehicle'),
    id,
    version: fc.nat(),
    ...plain(VEHICLE_FIELDS),
    dealerId: maybe(id),
    groupIds: ids,
    customAttributes: attributes,
    suspension: maybe(fc.record({ reason: fc.string(), by: fc.constantFrom('operator', 'dealer'), sinceMs: fc.nat() })),
    predecessor: maybe(fc.record({ id, untilMs: fc.nat() })),
    sensors: fc.array(
      fc.record({
        id,
        name: fc.string(),
        kind: fc.constantFrom('temperature', 'fuel-level'),
        unit: fc.string(),
        source: fc.string(),
        calibration: fc.array(fc.record({ raw: real, value: real }), { maxLength: 3 }),
        outside: fc.constantFrom('extrapolate', 'clamp'),
        validMin: maybe(real),
        validMax: maybe(real),
        onlyWithIgnition: fc.boolean(),
        smoothing: fc.integer({ min: 1, max: 31 }),
        thresholds: fc.array(
          fc.record({
            id,
            condition: fc.constantFrom('above', 'outside'),
            min: maybe(real),
            max: maybe(real),
            hysteresis: real,
            forSeconds: real,
          }),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 3 },
    ),
    terminalAccess: fc.record({
      protocol: fc.constantFrom('any', 'learn', 'jt808'),
      secretHash: maybe(fc.string()),
      certificateSha256: maybe(fc.string()),
      networks: fc.array(fc.string(), { maxLength: 3 }),
      registrationHash: maybe(fc.string()),
      seen: fc.boolean(),
      revision: fc.nat(),
    }),
  }),
  fc.record({
    kind: fc.constant('group'),
    id,
    version: fc.nat(),
    ...plain(GROUP_FIELDS),
    dealerId: maybe(id),
    ...custom,
  }),
  fc.record({
    kind: fc.constant('geofence'),
    id,
    version: fc.nat(),
    ...plain(GEOFENCE_FIELDS),
    ownerId: id,
    shape,
    groupIds: maybe(ids),
    sharedGroupIds: ids,
    ...custom,
  }),
  fc.record({
    kind: fc.constant('notification-rule'),
    id,
    version: fc.nat(),
    ownerId: id,
    name: fc.string(),
    active: fc.boolean(),
    inactiveReason: maybe(fc.constantFrom(...INACTIVE_REASONS)),
    eventKinds: fc.array(fc.string(), { maxLength: 3 }),
    phases: fc.subarray(['begin', 'end']),
    minDurationMinutes: real,
    alarms: maybe(fc.subarray(['sos', 'towing'])),
    sensors: maybe(fc.array(fc.string(), { maxLength: 3 })),
    command: maybe(
      fc.record({
        type: fc.constantFrom('output-set', 'engine-block'),
        output: maybe(fc.integer({ min: 1, max: 255 })),
        on: maybe(fc.boolean()),
        seconds: maybe(fc.integer({ min: 1, max: 86_400 })),
        text: maybe(fc.string()),
        maxSpeedKmh: maybe(fc.double({ min: 0, max: 100, noNaN: true })),
        expiresInSeconds: fc.integer({ min: 10, max: 86_400 }),
      }),
    ),
    vehicleIds: maybe(ids),
    groupIds: maybe(ids),
    geofenceIds: maybe(ids),
    insideGeofenceIds: maybe(ids),
    outsideGeofenceIds: maybe(ids),
    driver: maybe(fc.constantFrom('known', 'unknown')),
    driverIds: maybe(ids),
    driverGroupIds: maybe(ids),
    licenceWarningDays: fc.nat({ max: 365 }),
    days: fc.oneof(
      fc.constant({ on: 'daily' }),
      fc.record({ on: fc.constant('weekdays'), weekdays: fc.subarray(['monday', 'tuesday', 'sunday']) }),
      fc.record({ on: fc.constant('dates'), from: fc.string(), to: fc.string() }),
    ),
    hours: maybe(fc.record({ from: fc.string(), to: fc.string() })),
    timeZone: fc.string(),
    minIntervalMinutes: real,
    maxDataAgeMinutes: maybe(real),
    emails: fc.array(fc.string(), { maxLength: 3 }),
    channelIds: ids,
    messageTemplate: maybe(fc.string()),
    messageTemplates: fc.dictionary(fc.constantFrom('de', 'ru'), fc.string(), { noNullPrototype: true }),
    language: maybe(fc.constantFrom('de', 'he')),
    push: fc.boolean(),
    webhookUrl: maybe(fc.string()),
    severity: fc.constantFrom('info', 'critical'),
    shared: fc.boolean(),
    escalateAfterMinutes: maybe(real),
    escalateTo: fc.array(fc.string(), { maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('driver'),
    id,
    version: fc.nat(),
    ...plain(DRIVER_FIELDS),
    dealerId: maybe(id),
    groupIds: ids,
    codes: fc.array(fc.record({ code: fc.string(), sinceMs: fc.nat(), untilMs: maybe(fc.nat()) }), { maxLength: 3 }),
    ...custom,
  }),
  fc.record({
    kind: fc.constant('video-profile'),
    id,
    version: fc.nat(),
    vehicleId: id,
    name: fc.string(),
    protocol: fc.constantFrom('jt1078', 'stream'),
    address: fc.string(),
    channels: fc.array(
      fc.record({ number: fc.integer({ min: 1, max: 255 }), name: fc.string(), direction: fc.string() }),
      {
        maxLength: 4,
      },
    ),
    quality: fc.constantFrom('main', 'sub'),
    audio: fc.boolean(),
    maxFragmentSeconds: real,
    maxParallelDownloads: fc.nat(),
    timeZone: fc.string(),
  }),
) as fc.Arbitrary<unknown> as fc.Arbitrary<Definition>;

const changes: fc.Arbitrary<DefinitionChange> = fc
  .tuple(definitions, fc.boolean(), fc.nat())
  .map(([definition, deleted, changedAtMs]) => ({
    kind: definition.kind,
    id: definition.id,
    version: definition.version,
    changedAtMs,
    definition: deleted ? null : definition,
  }));

test('a change comes out of the log as it went in, a deletion with its version', () => {
  fc.assert(
    fc.property(changes, (change) => {
      expect(decodeDefinitionChange(encodeDefinitionChange(change))).toEqual(change);
    }),
    { numRuns: runs(500) },
  );
});

test('any Avro reader with the schema file can read it', () => {
  const file = new URL('../../../../schemas/definition.avsc', import.meta.url);
  const type = avsc.Type.forSchema(JSON.parse(readFileSync(file, 'utf8')));
  const [change] = fc.sample(changes, 1) as [DefinitionChange];
  expect(type.fromBuffer(encodeDefinitionChange(change).subarray(HEADER_BYTES))).toMatchObject({
    id: change.id,
    version: change.version,
    changedAt: change.changedAtMs,
  });
});

test('definitions of different kinds never share a key', () => {
  const key = (kind: DefinitionChange['kind']) =>
    definitionsTopic.key({ kind, id: 'x', version: 1, changedAtMs: 0, definition: null });
  expect(
    new Set(
      (['user', 'vehicle', 'group', 'geofence', 'notification-rule', 'video-profile', 'driver'] as const).map(key),
    ).size,
  ).toBe(7);
});

test('bytes that are no change are refused', () => {
  fc.assert(
    fc.property(changes, fc.nat(), (change, cut) => {
      const bytes = encodeDefinitionChange(change);
      expect(() => decodeDefinitionChange(bytes.subarray(0, cut % bytes.length))).toThrow(Error);
    }),
  );
});
