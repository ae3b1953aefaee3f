import { once } from 'node:events';
import type { GeofenceId, IncidentId, User, Vehicle } from '@outrider/domain';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOON, Place, visit } from './test-notifier.fixture.ts';

let place: Place;
let anna: User;
let ben: User;
let stranger: User;
let car: Vehicle;
let depot: GeofenceId;

beforeEach(async () => {
  place = await new Place().open();
  const group = await place.registry.groups.create({ name: 'Lorries', dealerId: null });
  anna = await place.addUser('anna', [group.id]);
  ben = await place.addUser('ben', [group.id]);
  stranger = await place.addUser('stranger');
  car = await place.addVehicle('Car', [group.id]);
  depot = await place.addGeofence('Depot', anna.id, { sharedWithOrganisation: true });
});
afterEach(() => place.close());

const SUBSCRIPTION = { all: true, events: false, incidents: true };

test('who deals with an incident hears of it as it is opened, as it changes, and when nobody acknowledges it', async () => {
  await place.addRule(anna.id, {
    ...{ severity: 'critical', shared: true, escalateAfterMinutes: 5, escalateTo: ['boss@example.org'] },
    phases: ['begin', 'end'],
  });
  await place.relay();
  const clock = new VirtualClock(NOON);
  let saved = 0;
  await place.startNotifications(undefined, { clock, onSaved: () => saved++ });
  await place.startLive();
  const [hers, his] = [await place.connect(anna, SUBSCRIPTION), await place.connect(ben, SUBSCRIPTION)];
  const others = [await place.connect(stranger, SUBSCRIPTION), await place.connect(ben, { all: true, events: false })];

  await place.happen(visit(car.id, depot, 0));
  const [opened] = await his.receives('incident');
  expect(opened).toMatchObject({ version: 1, severity: 'critical', state: 'open' });
  expect(await hers.receives('incident')).toEqual([opened]);

  await place.happen(visit(car.id, depot, 0, 'end'));
  expect((await his.receives('incident', 2)).at(-1)).toMatchObject({ id: opened?.id, version: 2, state: 'open' });

  const savedBefore = saved;
  place.nowMs = NOON + 5 * 60_000;
  await clock.advance(1000);
  expect((await his.receives('incident', 3)).at(-1)).toMatchObject({ id: opened?.id, version: 3 });
  // The messages of the escalation are sent at once.
  expect(saved).toBe(savedBefore + 1);
  const { items } = await place.registry.deliveries.list(anna.id, {}, { limit: 10, after: null });
  expect(items).toMatchObject([{ target: 'boss@example.org', isEscalation: true }]);
  expect(await place.registry.incidents.get(opened?.id as IncidentId)).toMatchObject({ escalatedAtMs: place.nowMs });
  for (const other of others) {
    // What was sent before has come when this is answered.
    other.socket.ping();
    await once(other.socket, 'pong');
    expect(other.of('incident')).toEqual([]);
  }
});
