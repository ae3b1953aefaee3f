import { deriveEventId, type GeofenceId, Turns, type User, type VehicleId } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, ALL, PASSWORD, ruleFields, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import { DeliverySlots, deliveryShares, type LeasedJob, type Registry } from '../index.ts';
import type { Place } from '../test-registry.fixture.ts';

/** A database of a registry, with another process that may write to it. */
export interface LeasesPlace extends Place {
  /** Runs `work` while another writer does not let go. */
  whileWriting<T>(work: () => Promise<T>): Promise<T>;
}

/** Work that is leased, whichever queue it is of. */
interface Leased {
  id: string;
  tenant: string;
  renew(): Promise<unknown>;
  /** Finishes it; false: the lease was lost. */
  settle(): Promise<boolean>;
}

interface Queue {
  /** Adds work that is due, for each of the tenants; they are repeated where they have more. */
  add(registry: Registry, tenants: readonly User[]): Promise<void>;
  lease(registry: Registry, limit: number): Promise<Leased[]>;
}

const T0 = Date.UTC(2026, 0, 15, 12);
const DAY_MS = 86_400_000;
const LEASE_MS = 60_000;
const CAR = '0190a000-0000-7000-8000-0000000000c1' as VehicleId;
/** Enough slots for everything: a slot that is never released stands for nothing here. */
const newSlots = () => new DeliverySlots(deliveryShares(4000, 100));

async function jobs(registry: Registry, kind: string, limit: number): Promise<LeasedJob[]> {
  const leased: LeasedJob[] = [];
  while (leased.length < limit) {
    const job = await registry.jobs.lease({ kinds: [kind], leaseMs: LEASE_MS, atOnce: 100 });
    if (job === null) break;
    leased.push(job);
  }
  return leased;
}

function queuesAt(advance: (ms: number) => void): Record<string, Queue> {
  return {
    jobs: {
      async add(registry, tenants) {
        for (const { id: userId } of tenants)
          await registry.jobs.create(
            { kind: 'dig', userId, subjectId: null, parameters: {}, dueAtMs: 0 },
            {
              action: 'report-requested',
              subject: { kind: 'user', id: userId, name: '' },
              after: null,
              dealerIds: [],
              ownerIds: [],
            },
          );
      },
      async lease(registry, limit) {
        return (await jobs(registry, 'dig', limit)).map((leased) => ({
          id: leased.job.id,
          tenant: leased.tenant,
          renew: () => registry.jobs.renew(leased, LEASE_MS, { percent: 1, positions: 1 }, null),
          settle: () => registry.jobs.settle(leased, { state: 'done', result: {} }),
        }));
      },
    },
    deliveries: {
      async add(registry, tenants) {
        for (const [nth, { id, login }] of tenants.entries()) {
          const fields = ruleFields(`${login} ${nth}`, id, { emails: [`${login}@example.org`] });
          const rule = await registry.notificationRules.create(fields, null);
          const startedAtMs = T0 + nth * 60_000;
          await registry.notifications.record({
            consumer: `test ${nth}`,
            partition: 0,
            next: 1,
            drafts: [
              {
                offset: 0,
                rule,
                event: {
                  id: deriveEventId('geofence-visit', CAR, '', startedAtMs),
                  kind: 'geofence-visit',
                  phase: 'begin',
                  vehicleId: CAR,
                  startedAtMs,
                  endedAtMs: null,
                  latitude: 52.5,
                  longitude: 13.4,
                  speedKmh: 40,
                  fixTimeMs: startedAtMs,
                  fromFixTimeMs: startedAtMs,
                  geofenceId: ABSENT as GeofenceId,
                  endReason: null,
                  definitionVersion: 1,
                  origin: 'live',
                  inferred: false,
                },
                vehicleName: 'Van 7',
                geofenceName: null,
              },
            ],
          });
        }
      },
      async lease(registry, limit) {
        const slots = new DeliverySlots({ ...newSlots().shares, atOnce: limit });
        return (await registry.deliveries.lease({ slots, leaseMs: LEASE_MS })).map((leased) => ({
          id: leased.delivery.id,
          tenant: leased.delivery.userId,
          renew: () => registry.deliveries.renew([leased], LEASE_MS),
          settle: () => registry.deliveries.settle(leased, { state: 'delivered', status: 250 }, 'unknown'),
        }));
      },
    },
    'report deliveries': {
      async add(registry, tenants) {
        for (const [nth, { id: ownerId }] of tenants.entries())
          await registry.reportSchedules.create({
            ownerId,
            name: `Daily ${nth}`,
            active: true,
            frequency: 'daily',
            hour: 6,
            covers: 'yesterday',
            timeZone: 'Europe/Berlin',
            report: { report: 'mileage', format: 'csv' },
            emails: ['a@example.org'],
          });
        advance(DAY_MS);
        await registry.reportSchedules.runDue(() => ({ kind: 'report', subjectId: null, parameters: {} }), 10);
        for (const leased of await jobs(registry, 'report', 10))
          await registry.reportFiles.fail(leased, 'no data', 'failed');
      },
      async lease(registry, limit) {
        return (await registry.reportDeliveries.lease(limit, LEASE_MS, new Turns())).map((leased) => ({
          id: leased.id,
          tenant: leased.userId,
          renew: () => registry.reportDeliveries.renew([leased], LEASE_MS),
          settle: () => registry.reportDeliveries.settle(leased, { state: 'delivered' }),
        }));
      },
    },
    'video tasks': {
      async add(registry, tenants) {
        for (const [nth, { id: dealerId }] of tenants.entries()) {
          const vehicle = await registry.vehicles.create(vehicleFields(`Van ${nth}`, { dealerId }));
          const profile = await registry.videoProfiles.create({
            vehicleId: vehicle.id,
            name: 'Recorder',
            protocol: 'jt1078',
            address: String(13_800_000_000 + nth),
            channels: [{ number: 1, name: 'Front', direction: 'front' }],
            quality: 'main',
            audio: true,
            maxFragmentSeconds: 900,
            maxParallelDownloads: 1,
            timeZone: 'UTC',
          });
          await registry.videoTasks.create({
            profileId: profile.id,
            createdBy: null,
            channel: 1,
            startMs: T0 - 60_000,
            endMs: T0,
            quality: 'main',
            audio: true,
            expiresAtMs: T0 + 10 * DAY_MS,
          });
        }
      },
      async lease(registry, limit) {
        return (await registry.videoQueue.lease(limit, LEASE_MS)).map((leased) => ({
          id: leased.task.id,
          tenant: leased.owner.tenant,
          renew: () => registry.videoQueue.progress(leased, { percent: 1, bytes: 1 }, LEASE_MS),
          async settle() {
            const step = { state: 'failed', reason: 'no-recording', detail: '' } as const;
            return (await registry.videoQueue.step(leased, step)) !== null;
          },
        }));
      },
    },
    'mail confirmations': {
      async add(registry, tenants) {
        for (const [nth, { id }] of tenants.entries())
          await registry.mailAddresses.request(id, [`person-${nth}@example.org`], () => false);
      },
      async lease(registry, limit) {
        return (await registry.mailAddresses.leaseConfirmations(limit, LEASE_MS)).map((leased) => ({
          id: leased.address.id,
          tenant: leased.address.tenant,
          renew: () => registry.mailAddresses.renewConfirmations([leased], LEASE_MS),
          settle: () =>
            registry.mailAddresses.settleConfirmation(leased, { isSent: true, isCounted: true, retryAtMs: null }),
        }));
      },
    },
  };
}

/** What every adapter of the registry promises of work that is leased, for each of its queues. */
export function leasesConformance(name: string, newPlace: () => Promise<LeasesPlace>): void {
  describe(`leases on ${name}`, () => {
    let place: LeasesPlace;
    let registry: Registry;
    let other: Registry;
    let anna: User;
    let ben: User;
    let nowMs: number;
    const queues = queuesAt((ms) => {
      nowMs += ms;
    });

    beforeEach(async () => {
      nowMs = T0;
      place = await newPlace();
      registry = await place.open(() => nowMs);
      other = await place.open(() => nowMs);
      anna = await registry.users.create(userFields('anna', { role: 'dealer' }), PASSWORD);
      ben = await registry.users.create(userFields('ben', { role: 'dealer' }), PASSWORD);
    });
    afterEach(async () => {
      await Promise.all([registry.close(), other.close()]);
      await place.remove();
    });

    describe.each(Object.entries(queues))('%s', (_, { add, lease }) => {
      test('what is due has one worker, however many ask at once', async () => {
        expect(await lease(registry, 10)).toEqual([]);
        await add(registry, [anna, ben, anna, ben]);
        const leased = (await Promise.all([1, 2, 1].map((limit) => lease(registry, limit)))).flat();
        leased.push(...(await lease(other, 4)));
        expect(leased).toHaveLength(4);
        expect(new Set(leased.map(({ id }) => id)).size).toBe(4);
        for (const each of leased) expect(await each.settle()).toBe(true);
        nowMs += LEASE_MS;
        expect(await lease(registry, 10)).toEqual([]);
      });

      test('tenants take turns', async () => {
        await add(registry, [anna, anna, anna, ben]);
        const leased = await lease(registry, 2);
        expect(new Set(leased.map(({ tenant }) => tenant))).toEqual(new Set([anna.id, ben.id]));
      });

      test('a lease that lapsed passes to another worker, and the late one changes nothing', async () => {
        await add(registry, [anna]);
        const [late] = await lease(registry, 1);
        nowMs += LEASE_MS - 1;
        expect(await lease(other, 1)).toEqual([]);
        nowMs += 1;
        const [next] = await lease(other, 1);
        expect(next?.id).toBe(late?.id);
        expect(await late?.settle()).toBe(false);
        await late?.renew();
        expect(await next?.settle()).toBe(true);
        nowMs += LEASE_MS;
        expect(await lease(registry, 1)).toEqual([]);
      });

      test('a lease that is renewed does not lapse', async () => {
        await add(registry, [anna]);
        const [leased] = await lease(registry, 1);
        for (let nth = 0; nth < 3; nth++) {
          nowMs += LEASE_MS - 1;
          await leased?.renew();
          expect(await lease(other, 1)).toEqual([]);
        }
        nowMs += LEASE_MS - 1;
        expect(await leased?.settle()).toBe(true);
      });

      test('a poll in vain waits for no writer', async () => {
        await place.whileWriting(async () => expect(await lease(other, 1)).toEqual([]));
        await add(registry, [anna]);
        expect(await lease(registry, 1)).toHaveLength(1);
        await place.whileWriting(async () => expect(await lease(other, 1)).toEqual([]));
      });
    });

    test('a poll for schedules or for expired video tasks in vain waits for no writer', async () => {
      await queues['video tasks']?.add(registry, [anna]);
      await place.whileWriting(async () => {
        expect(await other.videoQueue.expire(10)).toEqual([]);
        expect(await other.reportSchedules.runDue(() => null, 10)).toBe(0);
      });
    });

    test('a poll waits for no writer while as many jobs are leased as may be', async () => {
      await queues.jobs?.add(registry, [anna, ben]);
      const options = { kinds: ['dig'], leaseMs: LEASE_MS, atOnce: 1 };
      expect(await registry.jobs.lease(options)).not.toBeNull();
      await place.whileWriting(async () => expect(await other.jobs.lease(options)).toBeNull());
    });

    test('a delivery whose attempts all break off is given up at its last time', async () => {
      const { deliveries, 'report deliveries': reports } = queues;
      await deliveries?.add(registry, [anna]);
      const giveUpAtMs = nowMs + DAY_MS;
      let attempts = 0;
      while (nowMs <= giveUpAtMs + 3_600_000) {
        attempts += (await deliveries?.lease(registry, 1))?.length ?? 0;
        nowMs += 3_600_000;
      }
      expect(attempts).toBe(25);
      const { items } = await registry.deliveries.list(anna.id, {}, ALL);
      expect(items).toMatchObject([
        { state: 'failed', lastError: 'Every attempt was interrupted.', nextAttemptAtMs: null },
      ]);

      await reports?.add(registry, [ben]);
      expect(await reports?.lease(registry, 1)).toHaveLength(1);
      nowMs += DAY_MS + 1;
      expect(await reports?.lease(registry, 1)).toEqual([]);
      expect(Object.fromEntries(await registry.reportDeliveries.counts())).toEqual({ failed: 1 });
    });

    test('a delivery that no worker came to in time is attempted once', async () => {
      await queues.deliveries?.add(registry, [anna]);
      nowMs += 2 * DAY_MS;
      const [leased] = (await queues.deliveries?.lease(registry, 1)) ?? [];
      expect(await leased?.settle()).toBe(true);
    });
  });
}
