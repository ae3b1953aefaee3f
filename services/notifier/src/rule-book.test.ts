import {
  type Definition,
  Directory,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  geofenceOf,
  mismatchOf,
  type NotificationRule,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuleBook } from './rule-book.ts';

const id = fc.constantFrom('a', 'b', 'c');
const ids = fc.subarray(['a', 'b', 'c']);
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });

const HERE = { type: 'circle', center: [0, 0], radiusM: 100 };
const ELSEWHERE = { type: 'circle', center: [10, 10], radiusM: 100 };

/** Definitions that name each other by few ids, so that they meet. */
const definition = fc.oneof(
  fc.record({
    kind: fc.constant('user'),
    id,
    role: fc.constantFrom('operator', 'dealer', 'user'),
    dealerId: maybe(id),
    groupIds: ids,
    blocked: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('vehicle'),
    id: id.map((each) => `car-${each}`),
    name: id,
    dealerId: maybe(id),
    groupIds: ids,
  }),
  fc.record({
    kind: fc.constant('geofence'),
    id: id.map((each) => `zone-${each}`),
    name: id,
    ownerId: id,
    sharedWithOrganisation: fc.boolean(),
    sharedGroupIds: ids,
    shape: fc.constantFrom(HERE, ELSEWHERE),
  }),
  fc.record({
    kind: fc.constant('notification-rule'),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    ownerId: id,
    name: id,
    active: fc.constantFrom(true, true, false),
    eventKinds: fc.constant(['geofence-visit']),
    phases: fc.constant(['begin']),
    minDurationMinutes: fc.constantFrom(0, 0, 5),
    alarms: fc.constant(null),
    vehicleIds: maybe(fc.subarray(['car-a', 'car-b', 'car-c'])),
    groupIds: maybe(ids),
    geofenceIds: maybe(fc.subarray(['zone-a', 'zone-b', 'zone-c'])),
    insideGeofenceIds: fc.constantFrom(null, null, ['zone-a', 'zone-b']),
    outsideGeofenceIds: fc.constantFrom(null, null, ['zone-c']),
    driver: fc.constant(null),
    driverIds: fc.constant(null),
    driverGroupIds: fc.constant(null),
    days: fc.constant({ on: 'daily' }),
    hours: fc.constant(null),
    timeZone: fc.constant('UTC'),
    maxDataAgeMinutes: fc.constant(null),
  }),
);

/** Somebody of each role, with something to see: without, few rules would ever match. */
const BASE = [
  { kind: 'user', id: 'a', role: 'operator', dealerId: null, groupIds: [], blocked: false },
  { kind: 'user', id: 'b', role: 'dealer', dealerId: null, groupIds: [], blocked: false },
  { kind: 'user', id: 'c', role: 'user', dealerId: 'b', groupIds: ['a', 'b'], blocked: false },
  ...['a', 'b', 'c'].map((id) => ({ kind: 'vehicle', id: `car-${id}`, name: id, dealerId: 'b', groupIds: [id] })),
  ...['a', 'b', 'c'].map((id) => ({
    ...{ kind: 'geofence', id: `zone-${id}`, name: id, ownerId: id },
    ...{ sharedWithOrganisation: false, sharedGroupIds: [], shape: HERE },
  })),
];

/** A rule of the operator for all visits of all vehicles. */
const RULE_OF_ALL = {
  ...{ kind: 'notification-rule', id: 'of-all', ownerId: 'a', name: 'all', active: true },
  ...{ eventKinds: ['geofence-visit'], phases: ['begin'], minDurationMinutes: 0, alarms: null },
  ...{ vehicleIds: null, groupIds: null, geofenceIds: null, insideGeofenceIds: null, outsideGeofenceIds: null },
  ...{ driver: null, driverIds: null, driverGroupIds: null, maxDataAgeMinutes: null },
  ...{ days: { on: 'daily' }, hours: null, timeZone: 'UTC' },
};

const visit = (vehicleId: string, geofenceId: string | null): FleetEvent => ({
  id: deriveEventId('geofence-visit', vehicleId as VehicleId, geofenceId ?? '', 0),
  kind: 'geofence-visit',
  phase: 'begin',
  vehicleId: vehicleId as VehicleId,
  startedAtMs: 0,
  endedAtMs: null,
  latitude: 0,
  longitude: 0,
  speedKmh: null,
  fixTimeMs: 0,
  geofenceId: geofenceId as GeofenceId,
  fromFixTimeMs: 0,
  definitionVersion: 1,
  origin: 'live',
  inferred: false,
  endReason: null,
});

/** Every rule that there is, asked one after the other. */
function plainMatches(directory: Directory, event: FleetEvent): NotificationRule[] {
  const geofenceId = geofenceOf(event);
  const geofence = geofenceId === null ? null : (directory.geofences.get(geofenceId) ?? null);
  return [...directory.notificationRules.values()].filter(
    (rule) =>
      mismatchOf(
        rule,
        { event, arrivedAtMs: 0 },
        {
          owner: directory.users.get(rule.ownerId) ?? null,
          vehicle: directory.vehicles.get(event.vehicleId) ?? null,
          geofence,
          driver: null,
          geofenceOwner: (geofence && directory.users.get(geofence.ownerId)) ?? null,
          placeOf(id) {
            const place = directory.geofences.get(id);
            if (place === undefined) return null;
            const contains = (place.shape as unknown) === HERE;
            return { geofence: place, geofenceOwner: directory.users.get(place.ownerId) ?? null, contains };
          },
        },
      ) === null,
  );
}

test('however definitions come, change and go, the rules that are found are all those that match', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(definition, fc.constantFrom(false, false, false, true)), { maxLength: 40 }),
      fc.array(
        fc.tuple(
          id.map((each) => `car-${each}`),
          maybe(id.map((each) => `zone-${each}`)),
        ),
        { maxLength: 6 },
      ),
      (changes, events) => {
        const directory = new Directory();
        const book = new RuleBook(directory);
        let version = 0;
        const apply = (each: { kind: string; id: string }, deleted: boolean) => {
          version++;
          const named = { ...each, id: `${each.kind === 'notification-rule' ? 'rule-' : ''}${each.id}` };
          const change = {
            kind: named.kind as Definition['kind'],
            id: named.id,
            version,
            changedAtMs: 0,
            definition: deleted ? null : (named as unknown as Definition),
          };
          book.apply(change);
          directory.apply(change);
          // The same again, or one that was overtaken, changes nothing.
          book.apply({ ...change, version: version - 1, definition: null });
        };
        const foundFor = (vehicleId: string, geofenceId: string | null) => {
          const event = visit(vehicleId, geofenceId);
          const found = book.matches({ event, arrivedAtMs: 0 }, null).map(({ rule }) => rule.id);
          const plain = plainMatches(directory, event)
            .map((rule) => rule.id)
            .sort();
          expect(found).toEqual(plain);
          return found;
        };
        for (const each of BASE) apply(each, false);
        for (const [each, deleted] of changes) apply(each, deleted);
        for (const [vehicleId, geofenceId] of events) foundFor(vehicleId, geofenceId);
        // Random rules seldom match: this one does, whatever became of the others.
        for (const each of [...BASE, RULE_OF_ALL]) apply(each, false);
        expect(foundFor('car-a', 'zone-a')).toContain('rule-of-all');
      },
    ),
    { numRuns: runs(3000) },
  );
});

test('an event costs what the rules cost that can apply to its vehicle, not everyone’s', () => {
  const book = new RuleBook(new Directory());
  const rule = (nth: number, ownerId: string, more: object) => ({
    kind: 'notification-rule' as const,
    id: `rule ${nth}`,
    version: 1,
    changedAtMs: 0,
    definition: {
      ownerId,
      id: `rule ${nth}`,
      active: true,
      vehicleIds: null,
      groupIds: null,
      driver: null,
      driverIds: null,
      driverGroupIds: null,
      ...more,
    } as never,
  });
  const owners = 1000;
  for (let nth = 0; nth < owners; nth += 1) {
    const groupIds = [`group ${nth}`];
    const user = { id: `user ${nth}`, role: 'user', blocked: false, groupIds } as never;
    book.apply({ kind: 'user', id: `user ${nth}`, version: 1, changedAtMs: 0, definition: user });
    const vehicle = { name: 'x', dealerId: null, groupIds } as never;
    book.apply({ kind: 'vehicle', id: `vehicle ${nth}`, version: 1, changedAtMs: 0, definition: vehicle });
    book.apply(rule(3 * nth, `user ${nth}`, {}));
    book.apply(rule(3 * nth + 1, `user ${nth}`, { vehicleIds: [`vehicle ${nth}`] }));
    book.apply(rule(3 * nth + 2, `user ${nth}`, { groupIds, active: nth % 2 === 0 }));
  }
  expect(book.size).toBe(3 * owners);
  expect(book.candidateCount('vehicle 6' as VehicleId)).toBe(3);
  expect(book.candidateCount('vehicle 7' as VehicleId)).toBe(2);
  expect(book.candidateCount('none' as VehicleId)).toBe(0);
});
