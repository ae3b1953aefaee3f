import type { EventId, FleetEvent, UserId, VehicleId, VideoTaskId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { ALL, geofenceFields, PASSWORD, ruleFields, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import { ERASURE, type LeasedJob } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const DAY_MS = 86_400_000;
const LEASE = { kinds: [ERASURE], leaseMs: 60_000, atOnce: 1 };
const TOGETHER = { kind: ERASURE, max: 100 };

/** What every adapter of the registry promises of erasures. */
export function erasuresConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`erasures on ${name}`, () => {
    const env = registryPerTest(newPlace);

    const lease = (): Promise<LeasedJob[]> => env.registry.jobs.leaseTogether(LEASE, TOGETHER);
    const addUser = async (login: string) => (await env.registry.users.create(userFields(login), PASSWORD)).id;
    const addVehicle = async (vehicle: string) => (await env.registry.vehicles.create(vehicleFields(vehicle))).id;

    async function notify(owner: UserId, vehicleId: VehicleId, offset: number): Promise<void> {
      const rule = await env.registry.notificationRules.create(
        ruleFields(`Rule ${offset}`, owner, { emails: ['anna@example.com'] }),
        null,
      );
      const event = { id: `00000000-0000-8000-8000-00000000000${offset}` as EventId, vehicleId, phase: 'begin' };
      const draft = { offset, rule, event: event as FleetEvent, vehicleName: 'Van of Anna', geofenceName: null };
      await env.registry.notifications.record({ consumer: 'test', partition: 0, next: offset + 1, drafts: [draft] });
    }

    test('deleting a vehicle plans its erasure with it, to be begun after the grace time', async () => {
      const [first, second] = [await addVehicle('First'), await addVehicle('Second')];
      await env.registry.vehicles.delete(first, null, 3 * DAY_MS);
      env.nowMs += 60_000;
      await env.registry.vehicles.delete(second, null, 3 * DAY_MS);
      expect(await lease()).toEqual([]);
      env.nowMs += 3 * DAY_MS;
      // Those that are due go together.
      const leased = await lease();
      expect(leased.map(({ job }) => job.subjectId)).toEqual([first, second]);
      expect(leased[0]?.job).toMatchObject({
        userId: null,
        parameters: { subject: 'vehicle', requestedBy: null, dueAtMs: env.nowMs - 60_000 },
      });
      expect(await env.registry.erasures.existing({ vehicleIds: [first, second], userIds: [] })).toEqual(new Set());
      const trail = (await env.registry.audit.list({ subjectId: first }, ALL)).items;
      expect(trail.map(({ action }) => action)).toEqual(['deleted', 'created']);
    });

    test('no grace is a few minutes, so that what was on its way is there to be erased', async () => {
      await env.registry.vehicles.delete(await addVehicle('Van'), null, 0);
      env.nowMs += 599_000;
      expect(await lease()).toEqual([]);
      env.nowMs += 1000;
      expect(await lease()).toHaveLength(1);
    });

    test('until it begins it can be cancelled, and the trail says so', async () => {
      const id = await addVehicle('Van');
      await env.registry.vehicles.delete(id, null, DAY_MS);
      const [job] = (await env.registry.jobs.list({ kind: ERASURE }, ALL)).items;
      if (!job) throw new Error('it is planned');
      const subject = { kind: 'vehicle', id, name: 'Van' } as const;
      const about = {
        action: 'erasure-cancelled',
        subject,
        before: null,
        after: null,
        dealerIds: [],
        ownerIds: [],
      } as const;
      expect(await env.registry.jobs.cancel(job.id, about)).toMatchObject({ state: 'cancelled' });
      // Called off once: the trail has one line.
      await env.registry.jobs.cancel(job.id, about);
      env.nowMs += 30 * DAY_MS;
      expect(await lease()).toEqual([]);
      const trail = (await env.registry.audit.list({ subjectId: id }, ALL)).items.map(({ action }) => action);
      expect(trail.filter((action) => action === 'erasure-cancelled')).toHaveLength(1);
    });

    test('a worker that died is followed by another, and the first one can not end it', async () => {
      await env.registry.vehicles.delete(await addVehicle('Van'), null, 0);
      env.nowMs += 600_000;
      const dead = await lease();
      expect(await lease()).toEqual([]);
      env.nowMs += 60_000;
      const leased = await lease();
      expect(leased.map(({ job }) => job.id)).toEqual(dead.map(({ job }) => job.id));
      expect(await env.registry.erasures.finish(dead, {})).toBe(false);
      expect(await env.registry.erasures.finish(leased, { archiveRows: 7 })).toBe(true);
      const [job] = (await env.registry.jobs.list({ kind: ERASURE }, ALL)).items;
      expect(job).toMatchObject({ state: 'done', result: { archiveRows: 7 }, progress: { percent: 100 } });
    });

    test('notifications of a vehicle go from all inboxes, with what was sent of them; those of others stay', async () => {
      const anna = await addUser('anna');
      const [gone, kept] = [await addVehicle('Van of Anna'), await addVehicle('Other')];
      await notify(anna, gone, 1);
      await notify(anna, gone, 2);
      await notify(anna, kept, 3);
      await env.registry.vehicles.delete(gone, null);
      expect(await env.registry.erasures.removeNotifications([gone], 1)).toBe(1);
      expect(await env.registry.erasures.removeNotifications([gone], 10)).toBe(1);
      expect(await env.registry.erasures.removeNotifications([gone], 10)).toBe(0);
      const left = await env.registry.inboxes.list(anna, {}, { limit: 10, after: null });
      expect(left.items.map(({ event }) => event.vehicleId)).toEqual([kept]);
      expect((await env.registry.deliveries.list(anna, {}, ALL)).items).toHaveLength(1);
    });

    test('the trail keeps who did what and when by ids, and nothing that names or describes', async () => {
      const operator = await env.registry.users.create(userFields('boss', { role: 'operator' }), PASSWORD);
      const anna = await env.registry.users.create(userFields('anna'), PASSWORD);
      const asAnna = env.registry.as({ user: anna, sessionId: null, address: '198.51.100.7' });
      const home = await asAnna.geofences.create(geofenceFields('Home of Anna', anna.id));
      await asAnna.geofences.update(home.id, null, { name: 'Her home' });
      const van = await env.registry
        .as({ user: operator, sessionId: null, address: '192.0.2.1' })
        .vehicles.create(vehicleFields('Van of Anna', { plate: 'AN-NA 1' }));
      await env.registry.users.delete(anna.id, null);
      await env.registry.vehicles.delete(van.id, null);
      const subjects = { vehicleIds: [van.id], userIds: [anna.id] };
      expect(await env.registry.erasures.geofencesOf([anna.id])).toEqual([home.id]);
      expect(await env.registry.erasures.redactAudit(subjects)).toBeGreaterThan(5);
      await env.registry.erasures.removeRest(subjects);
      expect(await env.registry.erasures.geofencesOf([anna.id])).toEqual([]);
      // The group that came with the account may be others' by now.
      const trail = (await env.registry.audit.list({}, ALL)).items.filter(({ subject }) => subject.kind !== 'group');
      expect(JSON.stringify(trail)).not.toMatch(/anna|Her home|AN-NA|198\.51|30\.25/i);
      // What others did, from where, stays.
      expect(trail.find(({ subject, action }) => subject.id === van.id && action === 'created')).toMatchObject({
        user: { login: 'boss' },
        address: '192.0.2.1',
        before: null,
        after: null,
      });
      expect(trail.filter(({ user }) => user?.id === anna.id).map(({ action }) => action)).toEqual([
        'changed',
        'created',
      ]);
      expect(await env.registry.erasures.redactAudit(subjects)).toBeGreaterThan(0);
    });

    test('the file of a video waits for the erasure that is planned, and goes with it', async () => {
      const vehicleId = await addVehicle('Van');
      const profile = await env.registry.videoProfiles.create({
        vehicleId,
        name: 'Recorder',
        protocol: 'jt1078',
        address: '13800000001',
        channels: [{ number: 1, name: 'Road', direction: 'front' }],
        quality: 'main',
        audio: true,
        maxFragmentSeconds: 900,
        maxParallelDownloads: 1,
        timeZone: 'Etc/UTC',
      });
      const wish = {
        profileId: profile.id,
        createdBy: null,
        channel: 1,
        startMs: 0,
        endMs: 1000,
        quality: 'main',
        audio: true,
      } as const;
      const { id } = await env.registry.videoTasks.create({ ...wish, expiresAtMs: env.nowMs + DAY_MS });
      const [leased] = await env.registry.videoQueue.lease(1, 60_000);
      if (!leased) throw new Error('it is due');
      for (const state of ['requested', 'downloading', 'processing'] as const)
        await env.registry.videoQueue.step(leased, { state });
      const facts = { durationMs: 1, videoCodec: 'h264', audioCodec: null, frames: 1, packetsLost: 0 };
      await env.registry.videoQueue.step(leased, { state: 'done', file: { ...facts, bytes: 6, sha256: 'ab' } });
      await env.registry.vehicles.delete(vehicleId, null);
      expect(await env.registry.storedVideos.orphanedFiles(10)).toEqual([]);
      expect(await env.registry.erasures.videoFiles([vehicleId], 10)).toMatchObject([{ id }]);
      await env.registry.storedVideos.fileDeleted(id as VideoTaskId);
      expect(await env.registry.erasures.removeRest({ vehicleIds: [vehicleId], userIds: [] })).toBe(1);
      expect(await env.registry.videoTasks.get(id)).toBeNull();
    });
  });
}
