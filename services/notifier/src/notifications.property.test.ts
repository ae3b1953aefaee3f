import type { FleetEvent, Notification } from '@outrider/domain';
import type { NotificationBatch } from '@outrider/registry';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NotificationsParts } from './notifications.ts';
import { labelOf, Place, visit } from './test-notifier.fixture.ts';

/** An inbox whose process crashes at one of its calls: before it is saved, or after, before the reply. */
function crashing(
  notifications: NotificationsParts['notifications'],
  diesAt: number,
  afterSaving: boolean,
): NotificationsParts['notifications'] {
  let calls = 0;
  const dead = () => Promise.reject(new Error('dead'));
  return {
    places: (consumer: string) => notifications.places(consumer),
    setPlace: (...args: Parameters<typeof notifications.setPlace>) => notifications.setPlace(...args),
    forget: async () => 0,
    async record(batch: NotificationBatch): Promise<Notification[]> {
      calls += 1;
      if (calls > diesAt) return dead();
      if (calls < diesAt) return notifications.record(batch);
      if (afterSaving) await notifications.record(batch);
      return dead();
    },
  } as unknown as NotificationsParts['notifications'];
}

const life = fc.record({
  events: fc.integer({ min: 1, max: 12 }),
  diesAt: fc.integer({ min: 1, max: 3 }),
  afterSaving: fc.boolean(),
});

test('each notification at most once per rule and event, and none is lost, by instances that are abandoned at any moment', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      await using place = await new Place().open();
      const groupId = (await place.registry.groups.create({ name: 'Lorries', dealerId: null })).id;
      const anna = await place.addUser('anna', [groupId]);
      const car = await place.addVehicle('Car', [groupId]);
      const depot = await place.addGeofence('Depot', anna.id);
      await place.addRule(anna.id, { name: 'Begin' });
      await place.addRule(anna.id, { name: 'Both', phases: ['begin', 'end'] });
      await place.relay();
      const happened: FleetEvent[] = [];
      for (const { events, diesAt, afterSaving } of lives) {
        const stop = await place.startNotifications(crashing(place.registry.notifications, diesAt, afterSaving));
        for (let nth = 0; nth < events; nth += 1) {
          const event = visit(car.id, depot, happened.length, nth % 3 === 2 ? 'end' : 'begin');
          happened.push(event);
          await place.happen(event);
        }
        await stop().catch(() => {});
      }
      await place.startNotifications();
      await place.settled();
      const wanted = happened.flatMap((event) =>
        (event.phase === 'begin' ? ['Begin', 'Both'] : ['Both']).map((rule) => `${rule} ${labelOf(event)}`),
      );
      expect(await place.inbox(anna)).toEqual(wanted);
    }),
    { numRuns: runs(120) },
  );
}, 120_000);
