import { notificationText } from '@outrider/channels';
import {
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  notificationJson,
  type TraceId,
  type User,
  type Vehicle,
} from '@outrider/domain';
import type { NotificationDraft } from '@outrider/registry';
import { Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NotificationsParts } from './notifications.ts';
import { partsInTurns } from './owner-turns.ts';
import { factsOf, webhookBody } from './prepare-delivery.ts';
import { labelOf, NOON, Place, visit } from './test-notifier.fixture.ts';

const NOWHERE = { startPlace: null, endPlace: null };

const PATIENCE = { timeout: 60_000, interval: 10 };

let place: Place;
let anna: User;
let ben: User;
let lorries: GroupId;
let car: Vehicle;
let depot: GeofenceId;

/** Anna has a depot and may see the car; Ben may see the car too, and has no depot. */
async function furnish(): Promise<void> {
  place = await new Place().open();
  lorries = (await place.registry.groups.create({ name: 'Lorries', dealerId: null })).id;
  anna = await place.addUser('anna', [lorries]);
  ben = await place.addUser('ben', [lorries]);
  car = await place.addVehicle('Car', [lorries]);
  depot = await place.addGeofence('Depot', anna.id);
}
beforeEach(furnish);
afterEach(() => place.close());

const visits = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, nth) => visit(car.id, depot, from + nth));
const labels = (events: readonly FleetEvent[], rule = 'Rule') => events.map((event) => `${rule} ${labelOf(event)}`);

describe('notifications', () => {
  test('events that a rule names notify its owner, with the current names, and nobody else', async () => {
    await place.addRule(anna.id);
    await place.addRule(ben.id);
    await place.addRule(anna.id, { name: 'Ends', phases: ['end'] });
    await place.addRule(anna.id, { name: 'Speed', eventKinds: ['speeding'] });
    await place.relay();
    await place.startNotifications();
    await place.happen(visit(car.id, depot, 0), visit(car.id, depot, 0, 'end'));
    await place.settled();
    expect(await place.inbox(anna)).toEqual(['Rule 0 begin', 'Ends 0 end']);
    // The depot is Anna's: Ben may see the car, but not events at the depot.
    expect(await place.inbox(ben)).toEqual([]);
    expect(await place.registry.inboxes.after(anna.id, 0, 1)).toMatchObject([
      { vehicleName: 'Car', geofenceName: 'Depot', ruleVersion: 1 },
    ]);
  });

  test('rules come, change and go while events happen', async () => {
    await place.relay();
    await place.startNotifications();
    const rule = await place.addRule(anna.id);
    await place.relay();
    await vi.waitFor(async () => {
      await place.happen(visit(car.id, depot, 1));
      await place.settled();
      expect(await place.inbox(anna)).toEqual(['Rule 1 begin']);
    }, PATIENCE);
    await place.registry.notificationRules.update(rule.id, null, { active: false });
    await place.relay();
    // The change takes effect after a moment: notifications sent until then remain, and then they end.
    let minute = 10;
    await vi.waitFor(async () => {
      minute += 1;
      const before = await place.inbox(anna);
      await place.happen(visit(car.id, depot, minute));
      await place.settled();
      expect(await place.inbox(anna)).toEqual(before);
    }, PATIENCE);
  });

  test('an owner who lost the right to see a vehicle gets no more notifications of it', async () => {
    await place.addRule(anna.id);
    await place.relay();
    const stop = await place.startNotifications();
    await place.happen(visit(car.id, depot, 0));
    await place.settled();
    await stop();
    await place.registry.groups.setUser(lorries, anna.id, false);
    await place.relay();
    await place.startNotifications();
    await place.happen(visit(car.id, depot, 1));
    await place.settled();
    expect(await place.inbox(anna)).toEqual(['Rule 0 begin']);
  });

  test('a rule with an interval notifies once in it, also over restarts', async () => {
    await place.addRule(anna.id, { minIntervalMinutes: 10 });
    await place.relay();
    for (const events of [visits(0, 5), visits(5, 12), visits(12, 25)]) {
      const stop = await place.startNotifications();
      await place.happen(...events);
      await place.settled();
      await stop();
    }
    expect(await place.inbox(anna)).toEqual(['Rule 0 begin', 'Rule 10 begin', 'Rule 20 begin']);
  });

  test('what late data made known is notified once per rule and event, and marked late', async () => {
    await place.addRule(anna.id, { webhookUrl: 'https://example.com/hooks' });
    await place.relay();
    const stop = await place.startNotifications();
    await place.happen(visit(car.id, depot, 1));
    await place.settled();
    const late = { ...visit(car.id, depot, 0), receivedAtMs: visit(car.id, depot, 5).fixTimeMs };
    await place.happenLate(late, late);
    await place.settled();
    await stop();
    await place.startNotifications();
    // A recalculation that was done again, and one of what was notified live.
    await place.happenLate(late, visit(car.id, depot, 1));
    await place.settled();
    expect(await place.inbox(anna)).toEqual(['Rule 1 begin', 'Rule 0 begin']);
    const all = await place.registry.inboxes.after(anna.id, 0, 10);
    expect(all.map(notificationJson)).toMatchObject([{ late: false }, { late: true }]);
    expect(all.map((each) => webhookBody(each, NOWHERE))).toMatchObject([
      { data: { late: false } },
      { data: { late: true } },
    ]);
    const texts = all.map((each) =>
      notificationText(factsOf(each, NOWHERE), { language: 'en', timeZone: 'UTC', units: 'metric' }),
    );
    expect(texts.map(({ subject }) => subject)).toEqual([
      "Vehicle event: 'Car' entered 'Depot'",
      "Vehicle event: 'Car' entered 'Depot' (late data)",
    ]);
    expect(texts[1]?.text).toContain('5 min after it happened');
  });

  test('late data that is older than the rule takes is no news, an hour where the rule does not say', async () => {
    const MINUTE_MS = 60_000;
    await place.addRule(anna.id, { name: 'Fresh', maxDataAgeMinutes: 30 });
    await place.addRule(anna.id, { name: 'Old', maxDataAgeMinutes: 120 });
    await place.addRule(anna.id, { name: 'Any' });
    await place.relay();
    await place.startNotifications();
    const received = (minute: number, afterMinutes: number) => {
      const event = visit(car.id, depot, minute);
      return { ...event, receivedAtMs: event.fixTimeMs + afterMinutes * MINUTE_MS };
    };
    await place.happenLate(received(0, 30), received(1, 60), received(2, 120), received(3, 121));
    await place.settled();
    expect((await place.inbox(anna)).toSorted()).toEqual([
      'Any 0 begin',
      'Any 1 begin',
      'Fresh 0 begin',
      'Old 0 begin',
      'Old 1 begin',
      'Old 2 begin',
    ]);
  });

  test('late data keeps the interval of a rule on both sides, and sets it back for nothing live', async () => {
    await place.addRule(anna.id, { minIntervalMinutes: 10 });
    await place.relay();
    await place.startNotifications();
    for (const [minute, isLate] of [
      [30, false],
      [21, true],
      [20, true],
      [39, false],
      [40, false],
    ] as const) {
      if (isLate) await place.happenLate(visit(car.id, depot, minute));
      else await place.happen(visit(car.id, depot, minute));
      await place.settled();
    }
    expect(await place.inbox(anna)).toEqual(['Rule 30 begin', 'Rule 20 begin', 'Rule 40 begin']);
  });

  test('data that is old when it comes wakes nobody; data without bound does', async () => {
    await place.addRule(anna.id, { name: 'Fresh', maxDataAgeMinutes: 30 });
    await place.addRule(anna.id, { name: 'Any' });
    await place.relay();
    await place.startNotifications();
    place.nowMs += 60 * 60_000;
    await place.happen(...visits(20, 45).filter((_, nth) => nth % 8 === 0));
    await place.settled();
    expect((await place.inbox(anna)).filter((label) => label.startsWith('Any'))).toHaveLength(4);
    expect((await place.inbox(anna)).filter((label) => label.startsWith('Fresh'))).toEqual([
      'Fresh 36 begin',
      'Fresh 44 begin',
    ]);
  });

  test('data that was fresh on arrival gives notifications after any downtime of the notifier', async () => {
    const MINUTE_MS = 60_000;
    await place.addRule(anna.id, { name: 'Fresh', maxDataAgeMinutes: 30 });
    await place.relay();
    const received = (minute: number, afterMinutes: number) => {
      const event = visit(car.id, depot, minute);
      return { ...event, receivedAtMs: event.fixTimeMs + afterMinutes * MINUTE_MS };
    };
    await place.happen(received(0, 0), received(1, 31), received(2, 30));
    place.nowMs += 24 * 60 * MINUTE_MS;
    await place.startNotifications();
    await place.settled();
    expect(await place.inbox(anna)).toEqual(['Fresh 0 begin', 'Fresh 2 begin']);
  });

  test('it says which packet made it known, in the inbox and in the logger', async () => {
    await place.addRule(anna.id, { emails: ['anna@example.org'] });
    await place.relay();
    const lines: object[] = [];
    const write = (facts: object, what: string) => lines.push({ ...facts, what });
    const logger = {
      debug: write,
      info: write,
      warn: write,
      error: write,
      fatal: write,
    } as unknown as NotificationsParts['logger'];
    const metrics = new Metrics();
    await place.startNotifications(place.registry.notifications, {
      logger,
      metrics,
      clock: clockAt(() => NOON + 3000),
    });
    const traceId = '0af7651916cd43dd8448eb211c80319c' as TraceId;
    await place.happen({ ...visit(car.id, depot, 0), traceId, receivedAtMs: NOON });
    await place.settled();
    // So has the time that it took, from the packet on.
    expect(await metrics.getSingleMetricAsString('outrider_notification_seconds')).toContain('_sum 3\n');
    const [notification] = await place.registry.inboxes.after(anna.id, 0, 1);
    expect(notification?.event.traceId).toBe(traceId);
    expect(lines).toContainEqual(
      expect.objectContaining({ what: 'notification saved', traceId, notificationId: notification?.id }),
    );
  });
});

describe('each notification at most once per rule and event, and none is lost', () => {
  test('by instances that do the same work at the same time', async () => {
    await place.addRule(anna.id, { emails: ['anna@example.org'] });
    await place.relay();
    await place.startNotifications();
    await place.startNotifications();
    const events = visits(0, 200);
    for (let from = 0; from < events.length; from += 20) await place.happen(...events.slice(from, from + 20));
    await place.settled();
    expect(await place.inbox(anna)).toEqual(labels(events));
    const deliveries = await place.registry.deliveries.list(anna.id, {}, { limit: 1000, after: null });
    expect(deliveries.items).toHaveLength(200);
  });

  test('a database that fails for a while holds the events back, and no more', async () => {
    await place.addRule(anna.id);
    await place.relay();
    const { notifications } = place.registry;
    const record = vi
      .spyOn(notifications, 'record')
      .mockRejectedValueOnce(new Error('gone'))
      .mockRejectedValueOnce(new Error('gone'));
    await place.startNotifications();
    await place.happen(...visits(0, 3));
    await place.happen(...visits(3, 6));
    await place.settled();
    expect(await place.inbox(anna)).toEqual(labels(visits(0, 6)));
    expect(record.mock.calls.length).toBeGreaterThan(2);
  });

  test('events from before the first start are sent, and a replaced log is read from its beginning', async () => {
    await place.addRule(anna.id);
    await place.relay();
    await place.happen(...visits(0, 2));
    const stop = await place.startNotifications();
    await place.settled();
    await stop();
    expect(await place.inbox(anna)).toEqual(labels(visits(0, 2)));
    // As if the offsets were of a longer log.
    await place.registry.notifications.record({ consumer: 'notifications', partition: 0, next: 1000, drafts: [] });
    await place.startNotifications();
    await place.happen(...visits(2, 3));
    await place.settled();
    expect(await place.inbox(anna)).toEqual(labels(visits(0, 3)));
  });
});

describe('a notification reaches a client that comes back', () => {
  beforeEach(async () => {
    await place.addRule(anna.id);
    await place.relay();
  });

  test('live, with a cursor that holds events and notifications', async () => {
    await place.startNotifications();
    await place.startLive();
    const client = await place.connect(anna);
    const other = await place.connect(ben);
    await place.happen(visit(car.id, depot, 0));
    const [notification] = await client.receives('notification');
    expect(notification).toMatchObject({
      type: 'notification',
      number: 1,
      ruleName: 'Rule',
      vehicleName: 'Car',
      geofenceName: 'Depot',
      event: { kind: 'geofence-visit', phase: 'begin', vehicleId: car.id },
      readAt: null,
      // The event itself may have been sent before or not.
      cursor: expect.stringMatching(/^0:[01];c:[\d:]*;k:\w{16};n:1;l:\w{16}$/),
    });
    await place.happen(visit(car.id, depot, 1));
    await client.receives('notification', 2);
    expect(other.of('notification')).toEqual([]);
    const deaf = await place.connect(anna, { all: true, notifications: false });
    await place.happen(visit(car.id, depot, 2));
    await client.receives('notification', 3);
    const [event] = await deaf.receives('event');
    expect([deaf.of('notification'), event?.cursor]).toEqual([
      [],
      expect.stringMatching(/^0:3;c:[\d:]*;k:\w{16};l:\w{16}$/),
    ]);
  });

  test('each exactly once, in order, over disconnects of the client and restarts of everything', async () => {
    const received: unknown[] = [];
    let since: unknown = '0:0;n:0';
    const events = visits(0, 60);
    for (let round = 0; round < 6; round += 1) {
      const stopNotifications = await place.startNotifications();
      const stopLive = await place.startLive();
      const part = events.slice(round * 10, round * 10 + 10);
      // Some while nobody listens, some while it catches up, some live.
      await place.happen(...part.slice(0, 4));
      const connecting = place.connect(anna, { all: true, since });
      await place.happen(...part.slice(4, 7));
      const client = await connecting;
      await place.happen(...part.slice(7, 9));
      if (round % 2 === 0) await client.receives('notification', 1);
      client.socket.terminate();
      received.push(...client.numbers());
      since = client.cursor() ?? since;
      await place.happen(...part.slice(9));
      await stopLive();
      await stopNotifications();
    }
    await place.startNotifications();
    await place.startLive();
    const last = await place.connect(anna, { all: true, since });
    await place.settled();
    await vi.waitFor(() => expect(received.length + last.numbers().length).toBe(60), PATIENCE);
    expect([...received, ...last.numbers()]).toEqual(Array.from({ length: 60 }, (_, nth) => nth + 1));
  });

  test('another instance sends it too, through the hub; and where the hub lost it, a moment later', async () => {
    await place.startLive();
    const client = await place.connect(anna);
    const publish = vi.spyOn(place.hub, 'publish');
    await place.startNotifications();
    await place.happen(visit(car.id, depot, 0));
    await client.receives('notification');
    publish.mockImplementation(async () => {});
    await place.happen(...visits(1, 4));
    await client.receives('notification', 4);
    expect(client.numbers()).toEqual([1, 2, 3, 4]);
  });

  test('notifications that the hub delivers out of order or twice are sent once and in order', async () => {
    await place.startLive();
    const client = await place.connect(anna);
    const messages: string[] = [];
    const publish = place.hub.publish.bind(place.hub);
    vi.spyOn(place.hub, 'publish').mockImplementation(async (_, message) => {
      messages.push(message);
    });
    await place.startNotifications();
    for (const event of visits(0, 5)) {
      await place.happen(event);
      await place.settled();
    }
    for (const message of [...messages.toReversed(), ...messages]) await publish('notifications', message);
    await client.receives('notification', 5);
    expect(client.numbers()).toEqual([1, 2, 3, 4, 5]);
  });

  test('what is saved while the inbox is read for a client is not said to be forgotten, and comes after it', async () => {
    await place.startNotifications();
    await place.happen(visit(car.id, depot, 0));
    await place.settled();
    const inbox = place.registry.inboxes;
    const after = inbox.after.bind(inbox);
    vi.spyOn(inbox, 'after').mockImplementationOnce(async (...asked) => {
      const read = await after(...asked);
      await place.happen(visit(car.id, depot, 1));
      await place.settled();
      return read;
    });
    await place.startLive();
    const client = await place.connect(anna, { all: true, events: false, since: '0:0;n:0' });
    await client.receives('notification', 2);
    expect([client.numbers(), client.of('gap')]).toEqual([[1, 2], []]);
  });

  test('what was forgotten is said to be missing, and where it ends', async () => {
    await place.startNotifications();
    await place.startLive();
    await place.happen(...visits(0, 10));
    await place.settled();
    while ((await place.registry.notifications.forget({ beforeMs: 0, maxPerUser: 4, limit: 1000 })) > 0);
    const client = await place.connect(anna, { all: true, events: false, since: '0:0;n:2' });
    expect(client.of('gap')).toMatchObject([{ stream: 'notifications', from: 3, to: 7 }]);
    expect(client.numbers()).toEqual([7, 8, 9, 10]);
    const fresh = await place.connect(anna);
    expect([fresh.of('gap'), fresh.numbers()]).toEqual([[], []]);
    // A cursor of another log, beyond the newest notification, holds nothing back.
    const foreign = await place.connect(anna, { all: true, since: '0:0;n:5000' });
    await place.happen(visit(car.id, depot, 20));
    await foreign.receives('notification');
    expect(foreign.numbers()).toEqual([11]);
  });

  test('a retained notification that the client may no longer see is not sent', async () => {
    const van = await place.addVehicle('Van', anna.groupIds);
    await place.relay();
    const stop = await place.startNotifications();
    await place.happen(visit(car.id, depot, 0), visit(van.id, depot, 1), visit(car.id, depot, 2));
    await place.settled();
    await stop();
    await place.registry.groups.setUser(lorries, anna.id, false);
    await place.relay();
    await place.startLive();
    const client = await place.connect(anna, { all: true, since: '0:0;n:0' });
    expect(client.numbers()).toEqual([2]);
    expect(client.cursor()).toMatch(/^0:3;c:[\d:]*;k:\w{16};n:3;l:\w{16}$/);
    expect(client.of('resumed')).toMatchObject([{ missedNotifications: 1 }]);
  });

  test('who only asks for other vehicles misses none', async () => {
    await place.startNotifications();
    await place.startLive();
    const client = await place.connect(anna);
    for (const event of visits(0, 40)) {
      await place.happen(event);
      client.say({ type: 'subscribe', positions: false, vehicles: [car.id] });
      if (event.startedAtMs % 120_000 === 0) client.say({ type: 'subscribe', positions: false, all: true });
      await client.receives('resumed', client.of('resumed').length + 1);
    }
    await client.receives('notification', 40);
    expect(client.numbers()).toEqual(Array.from({ length: 40 }, (_, nth) => nth + 1));
  });
});

test('an owner with many notifications of an event delays those of others by few', () => {
  const draft = (owner: string, offset: number) =>
    ({ offset, rule: { ownerId: owner } }) as unknown as NotificationDraft;
  const drafts = [
    ...Array.from({ length: 900 }, (_, nth) => draft('loud', nth)),
    draft('quiet', 900),
    draft('quiet', 901),
  ];
  const parts = partsInTurns(drafts);
  expect(parts.every((part) => part.length <= 200)).toBe(true);
  expect(parts[0]?.filter(({ rule }) => (rule.ownerId as string) === 'quiet').map(({ offset }) => offset)).toEqual([
    900, 901,
  ]);
  const loud = parts.flat().filter(({ rule }) => (rule.ownerId as string) === 'loud');
  expect(loud.map(({ offset }) => offset)).toEqual(Array.from({ length: 900 }, (_, nth) => nth));
  expect(partsInTurns([])).toEqual([]);
});
