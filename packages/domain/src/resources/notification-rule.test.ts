import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FleetEvent, GeofenceVisit } from '../events/index.ts';
import { deriveEventId, type EventId, type GeofenceId, type GroupId, type UserId, type VehicleId } from '../ids.ts';
import { sampleRule } from '../samples.fixture.ts';
import type { Driver } from './driver.ts';
import type { Geofence } from './geofence.ts';
import {
  geofenceOf,
  happenedAtMs,
  isTooSoon,
  type Mismatch,
  mismatchOf,
  type NotificationRule,
  namesNothing,
  type RuleContext,
  type RuleDays,
  WEEKDAYS,
} from './notification-rule.ts';
import type { User } from './user.ts';
import type { Vehicle } from './vehicle.ts';

const CAR = 'car' as VehicleId;
const OWNER = 'owner' as UserId;
const DEPOT = 'depot' as GeofenceId;
const LORRIES = 'lorries' as GroupId;

const rule: NotificationRule = sampleRule({
  id: 'rule' as NotificationRule['id'],
  ownerId: OWNER,
  name: 'Rule',
  eventKinds: ['geofence-visit', 'speeding'],
});
const owner = { kind: 'user', id: OWNER, role: 'user', dealerId: null, blocked: false, groupIds: [LORRIES] } as unknown;
const context: RuleContext = {
  owner: owner as User,
  vehicle: { dealerId: null, groupIds: [LORRIES], suspension: null },
  geofence: { ownerId: OWNER, sharedWithOrganisation: false, sharedGroupIds: [] },
  geofenceOwner: owner as User,
  placeOf: () => null,
  driver: null,
};

function visit(startedAtMs: number, more: Partial<FleetEvent> = {}): FleetEvent {
  return {
    id: deriveEventId('geofence-visit', CAR, DEPOT, Math.floor(startedAtMs)),
    kind: 'geofence-visit',
    phase: 'begin',
    vehicleId: CAR,
    startedAtMs,
    endedAtMs: null,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fixTimeMs: startedAtMs,
    geofenceId: DEPOT,
    fromFixTimeMs: startedAtMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
    ...more,
  } as FleetEvent;
}

const at = (iso: string) => Date.parse(iso);
const whyNotAt = (iso: string, more: Partial<NotificationRule>) =>
  mismatchOf({ ...rule, ...more }, { event: visit(at(iso)), arrivedAtMs: null }, context);

describe('by the clock', () => {
  const night = { hours: { from: '22:00', to: '06:00' }, timeZone: 'Europe/Berlin' };

  test('hours are those of the time zone, the start in and the end out', () => {
    const office = { hours: { from: '08:00', to: '17:30' }, timeZone: 'Europe/Berlin' };
    expect(whyNotAt('2026-01-15T06:59:59.999Z', office)).toBe('other-hours');
    expect(whyNotAt('2026-01-15T07:00:00.000Z', office)).toBeNull();
    expect(whyNotAt('2026-01-15T16:29:59.999Z', office)).toBeNull();
    expect(whyNotAt('2026-01-15T16:30:00.000Z', office)).toBe('other-hours');
    expect(whyNotAt('2026-07-15T06:00:00.000Z', office)).toBeNull();
  });

  test('an end before the start is the next day, which counts as the day of the start', () => {
    // Friday the 16th: from Friday night to Saturday morning.
    const fridays = { ...night, days: { on: 'weekdays', weekdays: ['friday'] } as const };
    expect(whyNotAt('2026-01-16T21:30:00Z', fridays)).toBeNull();
    expect(whyNotAt('2026-01-17T04:30:00Z', fridays)).toBeNull();
    expect(whyNotAt('2026-01-16T04:30:00Z', fridays)).toBe('other-day');
    expect(whyNotAt('2026-01-17T21:30:00Z', fridays)).toBe('other-day');
    expect(whyNotAt('2026-01-16T12:00:00Z', fridays)).toBe('other-hours');
    const oneNight = { ...night, days: { on: 'dates', from: '2026-01-16', to: '2026-01-16' } as const };
    expect(whyNotAt('2026-01-17T04:59:59Z', oneNight)).toBeNull();
    expect(whyNotAt('2026-01-16T04:59:59Z', oneNight)).toBe('other-day');
  });

  test('on the days that the clocks change, the clock on the wall decides', () => {
    // In Berlin 02:00 to 03:00 happens twice on 25 October 2026, and not at all on 29 March.
    const small = { hours: { from: '02:00', to: '02:30' }, timeZone: 'Europe/Berlin' };
    for (const iso of ['2026-10-25T00:15:00Z', '2026-10-25T01:15:00Z']) expect(whyNotAt(iso, small)).toBeNull();
    for (const iso of ['2026-10-25T00:45:00Z', '2026-10-25T01:45:00Z'])
      expect(whyNotAt(iso, small)).toBe('other-hours');
    for (let minute = 0; minute < 180; minute += 1)
      expect(whyNotAt(new Date(at('2026-03-29T00:00:00Z') + minute * 60_000).toISOString(), small)).toBe('other-hours');
    expect(whyNotAt('2026-10-25T04:59:59Z', night)).toBeNull();
    expect(whyNotAt('2026-10-25T05:00:00Z', night)).toBe('other-hours');
    expect(whyNotAt('2026-03-29T03:59:59Z', night)).toBeNull();
    expect(whyNotAt('2026-03-29T04:00:00Z', night)).toBe('other-hours');
  });

  /** The same rules, from the text that the calendar writes and counted in minutes of the week. */
  function plainTimeMismatch(days: RuleDays, hours: NotificationRule['hours'], timeZone: string, atMs: number) {
    const parts = Object.fromEntries(
      new Intl.DateTimeFormat('en-GB', {
        timeZone,
        hourCycle: 'h23',
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
        hour: '2-digit',
        minute: '2-digit',
        weekday: 'long',
      })
        .formatToParts(atMs)
        .map(({ type, value }) => [type, value]),
    ) as Record<string, string>;
    let day = Date.UTC(Number(parts.year), Number(parts.month) - 1, Number(parts.day));
    if (hours) {
      const clock = `${parts.hour}:${parts.minute}`;
      const inside =
        hours.to > hours.from ? clock >= hours.from && clock < hours.to : clock >= hours.from || clock < hours.to;
      if (!inside) return 'other-hours';
      if (clock < hours.from) day -= 86_400_000;
    }
    if (days.on === 'daily') return null;
    if (days.on === 'weekdays')
      return days.weekdays.includes(WEEKDAYS[(new Date(day).getUTCDay() + 6) % 7] as never) ? null : 'other-day';
    const date = new Date(day).toISOString().slice(0, 10);
    return date >= days.from && date <= days.to ? null : 'other-day';
  }

  const clock = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`);
  const date = fc.date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true });
  const day = date.map((each) => each.toISOString().slice(0, 10));
  const days: fc.Arbitrary<RuleDays> = fc.oneof(
    fc.constant({ on: 'daily' } as const),
    fc.subarray([...WEEKDAYS], { minLength: 1 }).map((weekdays) => ({ on: 'weekdays', weekdays }) as const),
    fc.tuple(day, day).map(([from, to]) => ({ on: 'dates', from, to }) as const),
  );
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Chatham', 'Asia/Kolkata');
  // Half of the times lie near a change of the clocks of one of the zones.
  const times = fc.oneof(
    date.map((each) => each.getTime()),
    fc
      .tuple(
        fc.constantFrom('2026-03-29T01:00Z', '2026-10-25T01:00Z', '2026-03-08T05:30Z', '2026-04-04T14:00Z'),
        fc.integer({ min: -300, max: 300 }),
      )
      .map(([iso, minutes]) => at(iso) + minutes * 60_000),
  );

  test('in any zone, days and hours are what the calendar on the wall says', () => {
    fc.assert(
      fc.property(days, fc.option(fc.record({ from: clock, to: clock })), zones, times, (on, hours, timeZone, atMs) => {
        const found = mismatchOf(
          { ...rule, days: on, hours, timeZone },
          { event: visit(atMs), arrivedAtMs: null },
          context,
        );
        expect(found).toBe(plainTimeMismatch(on, hours, timeZone, atMs));
      }),
      { numRuns: runs(2000) },
    );
  });
});

test('the schedule uses the time of the event, the age that of the fix that reported it', () => {
  const began = at('2026-01-15T07:59:00Z');
  const ended = at('2026-01-15T09:00:00Z');
  const morning = { ...rule, phases: ['begin', 'end'] as const, hours: { from: '08:30', to: '10:00' } };
  const event = visit(began, { fixTimeMs: ended });
  expect(happenedAtMs(event)).toBe(began);
  expect(mismatchOf(morning, { event, arrivedAtMs: null }, context)).toBe('other-hours');
  const end = visit(began, { phase: 'end', endedAtMs: ended, fixTimeMs: ended });
  expect(mismatchOf(morning, { event: end, arrivedAtMs: null }, context)).toBeNull();
  const fresh = { ...rule, maxDataAgeMinutes: 5 };
  const age = (arrivedAtMs: number | null) => mismatchOf(fresh, { event, arrivedAtMs }, context);
  expect(age(ended + 5 * 60_000)).toBeNull();
  expect(age(ended + 5 * 60_000 + 1)).toBe('data-too-old');
  expect(age(null)).toBeNull();
});

test('a kind that nobody knew when the rule was made matches by its name', () => {
  const harsh = visit(0, { kind: 'harsh-braking' as FleetEvent['kind'] });
  const { geofenceId: _, ...event } = harsh as FleetEvent & { geofenceId: GeofenceId };
  const happening = { event: event as FleetEvent, arrivedAtMs: null };
  expect(mismatchOf(rule, happening, context)).toBe('other-kind');
  expect(mismatchOf({ ...rule, eventKinds: ['harsh-braking'] }, happening, context)).toBeNull();
  expect(mismatchOf({ ...rule, eventKinds: ['harsh-braking'], geofenceIds: [DEPOT] }, happening, context)).toBe(
    'other-geofence',
  );
});

describe('by what it names and what its owner may see', () => {
  const ids = ['a', 'b', 'c'];
  const list = fc.option(fc.subarray(ids));
  const some = fc.subarray(ids);
  const id = fc.constantFrom(...ids);
  const scene = fc.record({
    active: fc.boolean(),
    kinds: fc.subarray(['geofence-visit', 'speeding', 'trip']),
    phases: fc.subarray(['begin', 'end'] as const),
    kind: fc.constantFrom('geofence-visit', 'speeding', 'trip'),
    phase: fc.constantFrom('begin', 'end'),
    vehicleIds: list,
    groupIds: list,
    geofenceIds: list,
    vehicleId: id,
    geofenceId: fc.option(id),
    owner: fc.option(
      fc.record({
        role: fc.constantFrom('operator', 'dealer', 'user'),
        blocked: fc.constantFrom(true, false, false),
        groupIds: some,
      }),
      { freq: 9 },
    ),
    vehicle: fc.option(fc.record({ groupIds: some, own: fc.boolean(), isSuspended: fc.boolean() }), { freq: 9 }),
    geofence: fc.option(fc.constantFrom('mine', 'of my customer', 'of a colleague', 'of a stranger', 'of nobody'), {
      freq: 9,
    }),
    isShared: fc.boolean(),
    sharedGroupIds: some,
  });

  test('of alarms it notifies of those that it names, and of other kinds of event as before', () => {
    const ofSos: NotificationRule = { ...rule, eventKinds: ['alarm', 'geofence-visit'], alarms: ['sos'] };
    const mismatch = (event: FleetEvent) => mismatchOf(ofSos, { event, arrivedAtMs: 0 }, context);
    const alarm = (name: string) => {
      const { geofenceId: _, ...event } = visit(0, { kind: 'alarm' }) as GeofenceVisit;
      return { ...event, alarm: name } as unknown as FleetEvent;
    };
    expect([alarm('sos'), alarm('towing'), visit(0)].map(mismatch)).toEqual([null, 'other-alarm', null]);
  });

  test('harsh driving is an alarm to rules that name no more than alarms', () => {
    const braking = (terms: Partial<NotificationRule>) => {
      const { geofenceId: _, ...event } = visit(0, { kind: 'harsh-driving' as 'geofence-visit' }) as GeofenceVisit;
      const happening = { event: { ...event, manoeuvre: 'braking' } as unknown as FleetEvent, arrivedAtMs: 0 };
      return mismatchOf({ ...rule, ...terms }, happening, context);
    };
    expect(braking({ eventKinds: ['alarm'] })).toBeNull();
    expect(braking({ eventKinds: ['alarm'], alarms: ['sos', 'harsh-braking'] })).toBeNull();
    expect(braking({ eventKinds: ['alarm'], alarms: ['sos', 'harsh-cornering'] })).toBe('other-alarm');
    expect(braking({ eventKinds: ['alarm', 'harsh-driving'], alarms: ['sos'] })).toBeNull();
    expect(braking({ eventKinds: ['harsh-driving'] })).toBeNull();
    expect(braking({ eventKinds: ['power-cut'] })).toBe('other-kind');
  });

  test('of sensors it notifies of those that it names by name or by id, and of other kinds of event as before', () => {
    const ofCold: NotificationRule = { ...rule, eventKinds: ['sensor-threshold', 'geofence-visit'] };
    const event = (sensorId: string, sensorName: string) => {
      const { geofenceId: _, ...facts } = visit(0, { kind: 'sensor-threshold' }) as GeofenceVisit;
      return { ...facts, sensorId, sensorName } as unknown as FleetEvent;
    };
    const events = [event('s1', 'Cargo'), event('s2', 'CARGO'), event('s3', 'Door'), visit(0)];
    const mismatches = (sensors: string[] | null) =>
      events.map((each) => mismatchOf({ ...ofCold, sensors }, { event: each, arrivedAtMs: 0 }, context));
    expect(mismatches(['cargo'])).toEqual([null, null, 'other-sensor', null]);
    expect(mismatches(['s3', 's1'])).toEqual([null, 'other-sensor', null, null]);
    expect(mismatches(null)).toEqual([null, null, null, null]);
  });

  test('it notifies of exactly the events that it names and its owner may see', () => {
    fc.assert(
      fc.property(scene, (s) => {
        const event = visit(0, {
          kind: s.kind as FleetEvent['kind'],
          phase: s.phase as FleetEvent['phase'],
          vehicleId: s.vehicleId as VehicleId,
          geofenceId: s.geofenceId as GeofenceId,
        });
        const dealerId = s.owner?.role === 'user' ? 'boss' : null;
        const ownerOfRule = s.owner && ({ id: OWNER, dealerId, ...s.owner } as unknown as User);
        const vehicle = s.vehicle && {
          groupIds: s.vehicle.groupIds,
          dealerId: s.vehicle.own ? OWNER : null,
          suspension: s.vehicle.isSuspended ? ({ reason: 'unpaid', by: 'dealer', sinceMs: 0 } as const) : null,
        };
        const geofence = s.geofence && {
          ownerId: (s.geofence === 'mine' ? OWNER : 'another') as UserId,
          sharedWithOrganisation: s.isShared,
          sharedGroupIds: s.sharedGroupIds,
        };
        const dealerOfOther = { 'of my customer': OWNER, 'of a colleague': 'boss' }[s.geofence as string] ?? 'rival';
        const geofenceOwner =
          s.geofence === 'mine' ? ownerOfRule : { id: 'another', role: 'user', dealerId: dealerOfOther };
        const found = mismatchOf(
          {
            ...rule,
            active: s.active,
            eventKinds: s.kinds,
            phases: s.phases,
            vehicleIds: s.vehicleIds as VehicleId[] | null,
            groupIds: s.groupIds as GroupId[] | null,
            geofenceIds: s.geofenceIds as GeofenceId[] | null,
          },
          { event, arrivedAtMs: 0 },
          {
            owner: ownerOfRule,
            vehicle: vehicle as Vehicle | null,
            geofence: geofence as Geofence | null,
            geofenceOwner: s.geofence === 'of nobody' ? null : (geofenceOwner as User),
            placeOf: () => null,
            driver: null,
          },
        );

        const role = s.owner?.role;
        const shares = (one: readonly string[], other: readonly string[]) => one.some((each) => other.includes(each));
        const seesVehicle =
          s.owner !== null &&
          s.vehicle !== null &&
          !s.owner.blocked &&
          (role === 'operator' ||
            (!s.vehicle.isSuspended && role === 'dealer' && s.vehicle.own) ||
            (!s.vehicle.isSuspended && role === 'user' && shares(s.vehicle.groupIds, s.owner.groupIds)));
        const naming =
          (s.vehicleIds === null && s.groupIds === null) ||
          (s.vehicleIds ?? []).includes(s.vehicleId) ||
          (s.vehicle !== null && shares(s.vehicle.groupIds, s.groupIds ?? []));
        const about = s.geofenceId;
        const isCustomers = s.geofence === 'of my customer' && role === 'dealer';
        const wasGiven =
          (role === 'user' && shares(s.sharedGroupIds, s.owner?.groupIds ?? [])) ||
          (s.isShared && s.geofence === 'of a colleague' && role === 'user') ||
          ((s.isShared || s.sharedGroupIds.length > 0) && isCustomers);
        const seesGeofence =
          s.geofence === 'mine' || (s.geofence !== null && (role === 'operator' || isCustomers || wasGiven));
        const atGeofence =
          about === null
            ? s.geofenceIds === null
            : s.geofenceIds === null
              ? s.geofence === 'mine' || wasGiven
              : s.geofenceIds.includes(about);
        const conditions: [Mismatch, boolean][] = [
          ['inactive', s.active],
          ['other-kind', s.kinds.includes(s.kind as never)],
          ['other-phase', s.phases.includes(s.phase as never)],
          ['vehicle-not-visible', seesVehicle],
          ['other-vehicle', naming],
          ['geofence-not-visible', about === null || seesGeofence],
          ['other-geofence', atGeofence],
        ];
        expect(found).toBe(conditions.find(([, holds]) => !holds)?.[0] ?? null);
      }),
      { numRuns: runs(3000) },
    );
  });
});

test('for any ordered fixes, notifications are at least the interval apart, and none is skipped without need', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(10_000_000)), fc.nat(60), (fixes, minIntervalMinutes) => {
      const notified: number[] = [];
      for (const fix of fixes.toSorted((a, b) => a - b)) {
        const last = notified.at(-1) ?? null;
        if (!isTooSoon({ minIntervalMinutes }, last, { fixTimeMs: fix, origin: 'live' })) notified.push(fix);
        else expect(fix - (last ?? 0)).toBeLessThan(minIntervalMinutes * 60_000);
      }
      for (const [nth, fix] of notified.entries())
        if (nth > 0) expect(fix - (notified[nth - 1] ?? 0)).toBeGreaterThanOrEqual(minIntervalMinutes * 60_000);
    }),
  );
});

test('what a rule no longer names is said', () => {
  const lists = (vehicleIds: string[] | null, groupIds: string[] | null, geofenceIds: string[] | null) =>
    namesNothing({ ...rule, vehicleIds, groupIds, geofenceIds } as never);
  expect(lists(null, null, null)).toBeNull();
  expect(lists(['a'], [], null)).toBeNull();
  expect(lists([], ['a'], ['b'])).toBeNull();
  expect(lists([], null, null)).toBe('vehicles-deleted');
  expect(lists([], [], null)).toBe('vehicles-deleted');
  expect(lists(null, [], null)).toBe('groups-deleted');
  expect(lists(['a'], null, [])).toBe('geofences-deleted');
});

test('an event is about a geofence, or about none', () => {
  expect(geofenceOf(visit(0))).toBe(DEPOT);
  expect(geofenceOf({ id: 'x' as EventId, kind: 'trip' } as unknown as FleetEvent)).toBeNull();
});

describe('events that last', () => {
  const longRule = { ...rule, phases: ['begin', 'end'] as const, minDurationMinutes: 30 };
  const atMs = Date.UTC(2026, 0, 15, 12);

  test('a rule with a minimum duration judges what is known, and leaves open what is not', () => {
    const judge = (lastedMs?: number) =>
      mismatchOf(
        longRule,
        { event: visit(atMs), arrivedAtMs: null, ...(lastedMs !== undefined && { lastedMs }) },
        context,
      );
    expect(judge()).toBeNull();
    expect(judge(30 * 60_000 - 1)).toBe('too-short');
    expect(judge(30 * 60_000)).toBeNull();
  });

  test('its days and hours are those of the moment at which it has lasted', () => {
    const evening = { ...longRule, hours: { from: '12:20', to: '13:00' } };
    const at = (ms: number) => mismatchOf(evening, { event: visit(ms), arrivedAtMs: null }, context);
    expect(at(atMs)).toBeNull();
    expect(at(atMs - 11 * 60_000)).toBe('other-hours');
    expect(at(atMs + 31 * 60_000)).toBe('other-hours');
  });
});

describe('places', () => {
  const OTHER = 'other' as GeofenceId;
  const at = (inside: readonly GeofenceId[], invisible: readonly GeofenceId[] = []): RuleContext => ({
    ...context,
    placeOf: (id) =>
      id === ('gone' as GeofenceId)
        ? null
        : {
            geofence: {
              ownerId: invisible.includes(id) ? ('somebody' as UserId) : OWNER,
              sharedWithOrganisation: false,
              sharedGroupIds: [],
            },
            geofenceOwner: owner as User,
            contains: inside.includes(id),
          },
  });
  const judge = (terms: Partial<NotificationRule>, where: RuleContext) =>
    mismatchOf({ ...rule, ...terms }, { event: visit(0), arrivedAtMs: null }, where);

  test('inside one of them, and outside all of them', () => {
    expect(judge({ insideGeofenceIds: [DEPOT, OTHER] }, at([OTHER]))).toBeNull();
    expect(judge({ insideGeofenceIds: [DEPOT, OTHER] }, at([]))).toBe('not-inside');
    expect(judge({ outsideGeofenceIds: [DEPOT, OTHER] }, at([OTHER]))).toBe('not-outside');
    expect(judge({ outsideGeofenceIds: [DEPOT, OTHER] }, at([]))).toBeNull();
    expect(judge({ insideGeofenceIds: [OTHER], outsideGeofenceIds: [DEPOT] }, at([OTHER]))).toBeNull();
    expect(judge({ insideGeofenceIds: [OTHER], outsideGeofenceIds: [DEPOT] }, at([OTHER, DEPOT]))).toBe('not-outside');
  });

  test('nothing is learnt of a geofence that the owner does not see any more', () => {
    expect(judge({ insideGeofenceIds: [OTHER] }, at([OTHER], [OTHER]))).toBe('not-inside');
    expect(judge({ outsideGeofenceIds: [OTHER] }, at([], [OTHER]))).toBe('geofence-not-visible');
    expect(judge({ outsideGeofenceIds: ['gone' as GeofenceId] }, at([]))).toBe('geofence-not-visible');
  });

  test('a rule whose last place is gone names nothing', () => {
    expect(namesNothing({ ...rule, outsideGeofenceIds: [] })).toBe('geofences-deleted');
  });
});

describe('drivers', () => {
  const NIGHT = 'night shift' as GroupId;
  const anna = { id: 'anna', dealerId: null, groupIds: [LORRIES, NIGHT] } as unknown as Driver;
  const unseen = { id: 'unseen', dealerId: null, groupIds: ['others'] } as unknown as Driver;
  const judge = (terms: Partial<NotificationRule>, driver: Driver | null, lastedMs?: number) =>
    mismatchOf(
      { ...rule, ...terms },
      { event: visit(0), arrivedAtMs: null, ...(lastedMs !== undefined && { lastedMs }) },
      { ...context, driver },
    );

  test('known or not, one of some, or of a group; one that the owner does not see is not known', () => {
    for (const [terms, by] of [
      [{ driver: null }, ['anna', 'unseen', 'nobody']],
      [{ driver: 'known' }, ['anna']],
      [{ driver: 'unknown' }, ['unseen', 'nobody']],
      [{ driverIds: ['anna', 'unseen'] }, ['anna']],
      [{ driverIds: ['bert'] }, []],
      [{ driverIds: ['bert'], driverGroupIds: [NIGHT] }, ['anna']],
      [{ driverGroupIds: ['others'] }, []],
    ] as const) {
      const found = Object.entries({ anna, unseen, nobody: null }).filter(
        ([, who]) => judge(terms as never, who) === null,
      );
      expect(found.map(([name]) => name)).toEqual(by);
    }
  });

  test('where it is waited whether the event lasts, who drives is judged then', () => {
    const terms = { driver: 'known' as const, minDurationMinutes: 2 };
    expect(judge(terms, null)).toBeNull();
    expect(judge(terms, null, 120_000)).toBe('other-driver');
    expect(judge(terms, anna, 120_000)).toBeNull();
  });

  test('a rule whose last driver is gone names nothing', () => {
    expect(namesNothing({ ...rule, driverIds: [] })).toBe('drivers-deleted');
    expect(namesNothing({ ...rule, driverIds: [], driverGroupIds: [NIGHT] })).toBeNull();
  });
});
