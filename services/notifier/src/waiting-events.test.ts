import {
  blankPosition,
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  type User,
  type Vehicle,
} from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NOON, Place } from './test-notifier.fixture.ts';
import { SILENCE_MS } from './waiting-events.ts';

const MINUTE = 60_000;
const PATIENCE = { timeout: 60_000, interval: 20 };

let place: Place;
let anna: User;
let van: Vehicle;

beforeEach(async () => {
  place = await new Place().open();
  const lorries = (await place.registry.groups.create({ name: 'Lorries', dealerId: null })).id as GroupId;
  anna = await place.addUser('anna', [lorries]);
  van = await place.addVehicle('Van', [lorries]);
});
afterEach(() => place.close());

/** The van parks so many minutes after noon, and drives on after so many more. */
function parking(minute: number, minutes: number | null = null): FleetEvent {
  const startedAtMs = NOON + minute * MINUTE;
  const endedAtMs = minutes === null ? null : startedAtMs + minutes * MINUTE;
  return {
    id: deriveEventId('parking', van.id, '', startedAtMs),
    kind: 'parking',
    phase: endedAtMs === null ? 'begin' : 'end',
    vehicleId: van.id,
    startedAtMs,
    endedAtMs,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 0,
    idlingMs: 0,
    fixTimeMs: endedAtMs ?? startedAtMs,
    fromFixTimeMs: startedAtMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: endedAtMs === null ? null : 'moved',
    receivedAtMs: place.nowMs,
  };
}

/** The rules have gone through the van's data up to then. */
function dataUpTo(minute: number): Promise<void> {
  const fixTimeMs = NOON + minute * MINUTE;
  return place.hub.updateLatest([sampleStatus(van.id, blankPosition(fixTimeMs, 13.4, 52.5), fixTimeMs)]);
}

async function waitingIds(): Promise<number> {
  return (await place.registry.waitingNotifications.due(Number.MAX_SAFE_INTEGER, null, 100)).length;
}

async function notified(...labels: string[]): Promise<void> {
  await vi.waitFor(async () => expect(await place.inbox(anna)).toEqual(labels), PATIENCE);
}

async function longParking(more: object = {}) {
  const rule = await place.addRule(anna.id, { eventKinds: ['parking'], minDurationMinutes: 240, ...more });
  await place.relay();
  return rule;
}

describe('a rule of four hours of parking', () => {
  test('notifies when the data show that they have passed, and once', async () => {
    await longParking({ phases: ['begin', 'end'] });
    await place.startNotifications();
    await place.happen(parking(0));
    await place.settled();
    place.nowMs = NOON + 240 * MINUTE;
    await dataUpTo(239);
    // The clock alone is no reason yet.
    const looks = vi.spyOn(place.registry.waitingNotifications, 'due');
    await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(3), PATIENCE);
    expect(await place.inbox(anna)).toEqual([]);
    await dataUpTo(240);
    await notified('Rule 0 begin');
    await place.happen(parking(0, 500));
    await notified('Rule 0 begin', 'Rule 0 end');
    const [first, second] = await place.registry.inboxes.after(anna.id, 0, 10);
    expect([first?.lastedMs, second?.lastedMs]).toEqual([240 * MINUTE, null]);
    expect(await waitingIds()).toBe(0);
  });

  test('does not notify of what ended before, whatever the clock says by then', async () => {
    await longParking({ phases: ['begin', 'end'] });
    await place.startNotifications();
    // Hours late, in one piece, and in two.
    place.nowMs = NOON + 3000 * MINUTE;
    await place.happen(parking(0), parking(0, 239), parking(300));
    await place.settled();
    await place.happen(parking(300, 239), parking(600), parking(600, 240));
    await place.settled();
    await notified('Rule 600 begin', 'Rule 600 end');
    expect(await waitingIds()).toBe(0);
  });

  test('is not notified of a begin whose end is in the log already', async () => {
    await longParking();
    const stop = await place.startNotifications();
    await place.happen(parking(0));
    await place.settled();
    await stop();
    // While it was stopped the van drove on, and the hours passed.
    await place.happen(parking(0, 100));
    place.nowMs = NOON + 1000 * MINUTE;
    await dataUpTo(1000);
    await place.startNotifications();
    await place.settled();
    await vi.waitFor(async () => expect(await waitingIds()).toBe(0), PATIENCE);
    expect(await place.inbox(anna)).toEqual([]);
  });

  test('survives a restart, and a saving that fails in between', async () => {
    await longParking();
    const stop = await place.startNotifications();
    await place.happen(parking(0));
    await place.settled();
    await stop();
    place.nowMs = NOON + 240 * MINUTE;
    await dataUpTo(240);
    const { notifications } = place.registry;
    let fails = 2;
    const shaky = new Proxy(notifications, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'recordWaited') return value.bind(target);
        return (...args: Parameters<typeof notifications.recordWaited>) =>
          fails-- > 0 ? Promise.reject(new Error('the registry is away')) : target.recordWaited(...args);
      },
    });
    await place.startNotifications(shaky);
    await notified('Rule 0 begin');
    expect(fails).toBe(-1);
  });

  test('takes the clock where the vehicle keeps silent', async () => {
    await longParking();
    await place.startNotifications();
    await place.happen(parking(0));
    await place.settled();
    await dataUpTo(1);
    place.nowMs = NOON + 240 * MINUTE + SILENCE_MS;
    await notified('Rule 0 begin');
  });

  test('is judged as it is when the time has come', async () => {
    const rule = await longParking();
    await place.startNotifications();
    await place.happen(parking(0));
    await place.settled();
    await place.registry.notificationRules.update(rule.id, null, { minDurationMinutes: 300, name: 'Five hours' });
    await place.relay();
    place.nowMs = NOON + 299 * MINUTE;
    await dataUpTo(299);
    await vi.waitFor(async () => {
      const [waiting] = await place.registry.waitingNotifications.due(Number.MAX_SAFE_INTEGER, null, 10);
      expect(waiting?.dueMs).toBe(NOON + 300 * MINUTE);
    }, PATIENCE);
    place.nowMs = NOON + 300 * MINUTE;
    await dataUpTo(300);
    await notified('Five hours 0 begin');
  });

  test('counts late data, where the rule takes data of that age', async () => {
    await longParking({ maxDataAgeMinutes: 6000 });
    await place.startNotifications();
    place.nowMs = NOON + 3000 * MINUTE;
    const late = (event: FleetEvent): FleetEvent => ({ ...event, receivedAtMs: place.nowMs });
    await place.happenLate(late(parking(0)), late(parking(0, 100)), late(parking(200)), late(parking(200, 241)));
    await place.settled();
    await notified('Rule 200 begin');
  });
});

describe('places', () => {
  test('a rule notifies of what happens outside a geofence, and rests when that is deleted', async () => {
    // The shape of the sample holds the place of the visits, and not the other.
    const depot: GeofenceId = await place.addGeofence('Depot', anna.id, {
      shape: { type: 'circle', center: [13.4, 52.5], radiusM: 500 },
    });
    const rule = await place.addRule(anna.id, { eventKinds: ['parking'], outsideGeofenceIds: [depot] });
    await place.addRule(anna.id, { eventKinds: ['parking'], name: 'Inside', insideGeofenceIds: [depot] });
    await place.relay();
    await place.startNotifications();
    await place.happen(parking(0), { ...parking(10), latitude: 52.6 } as FleetEvent);
    await place.settled();
    await notified('Inside 0 begin', 'Rule 10 begin');
    await place.registry.geofences.delete(depot, null);
    expect(await place.registry.notificationRules.get(rule.id)).toMatchObject({
      active: false,
      inactiveReason: 'geofences-deleted',
      outsideGeofenceIds: [],
    });
  });
});

describe('drivers', () => {
  /** Anna has the code CARD; the van was given to Ben by hand from minute 1000 on. */
  async function drivers() {
    const driver = (name: string, codes: string[]) =>
      place.registry.drivers.create({
        ...{ name, codes, groupIds: anna.groupIds, dealerId: null },
        ...{ phone: null, licenceNumber: null, licenceExpiresOn: null },
      });
    const [ann, ben] = [await driver('Ann', ['CARD']), await driver('Ben', [])];
    await place.registry.driverAssignments.create({
      ...{ vehicleId: van.id, driverId: ben.id },
      ...{ fromMs: NOON + 1000 * MINUTE, toMs: null },
    });
    return { ann: ann.id, ben: ben.id };
  }
  const by = (driverCode: string, event: FleetEvent): FleetEvent => ({ ...event, driverCode });

  test('a rule notifies of what one of its drivers drove, of what anybody known did, or of what nobody known did', async () => {
    const { ann, ben } = await drivers();
    const more = { eventKinds: ['parking'] };
    await place.addRule(anna.id, { ...more, name: 'Ann', driverIds: [ann] });
    await place.addRule(anna.id, { ...more, name: 'Ben', driverIds: [ben] });
    await place.addRule(anna.id, { ...more, name: 'Known', driver: 'known', driverGroupIds: anna.groupIds });
    await place.addRule(anna.id, { ...more, name: 'Unknown', driver: 'unknown' });
    await place.relay();
    await place.startNotifications();
    await place.happen(by('CARD', parking(0)), by('OTHER', parking(10)), parking(20), by('CARD', parking(1010)));
    await place.settled();
    const ofMinute = async (minute: number) =>
      (await place.inbox(anna)).filter((label) => label.includes(` ${minute} `)).map((label) => label.split(' ')[0]);
    expect((await ofMinute(0)).sort()).toEqual(['Ann', 'Known']);
    expect(await ofMinute(10)).toEqual(['Unknown']);
    expect(await ofMinute(20)).toEqual(['Unknown']);
    expect((await ofMinute(1010)).sort()).toEqual(['Ben', 'Known']);
  });

  test('a card that is read while a rule waits counts', async () => {
    await drivers();
    const more = { eventKinds: ['parking'], minDurationMinutes: 2 };
    await place.addRule(anna.id, { ...more, name: 'Unknown', driver: 'unknown' });
    await place.addRule(anna.id, { ...more, name: 'Known', driver: 'known' });
    await place.relay();
    await place.startNotifications();
    // In one batch, and by the end that comes later.
    await place.happen(parking(0), by('CARD', parking(0, 5)), parking(10), parking(10, 5), parking(20), parking(30));
    await place.settled();
    await place.happen(by('CARD', parking(20, 5)));
    await place.settled();
    // By the state of the vehicle.
    place.nowMs = NOON + 40 * MINUTE;
    const fixTimeMs = place.nowMs;
    const status = sampleStatus(van.id, blankPosition(fixTimeMs, 13.4, 52.5), fixTimeMs);
    await place.hub.updateLatest([{ ...status, activity: { ...status.activity, driverCode: 'CARD' } as never }]);
    await notified('Known 0 begin', 'Unknown 10 begin', 'Known 20 begin', 'Known 30 begin');
  });
});
