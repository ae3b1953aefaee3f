import {
  type TerminalId,
  terminalIdsOf,
  type UserId,
  type VehicleId,
  type VideoFile,
  type VideoProfile,
  type VideoTask,
  type VideoTaskId,
} from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { ABSENT, ALL, PASSWORD, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import {
  ConflictError,
  NotFoundError,
  OperatorOnlyError,
  StaleError,
  UnknownReferenceError,
  type VideoProfileFields,
} from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';

const MINUTE = 60_000;
const FILE: VideoFile = {
  bytes: 1000,
  sha256: 'ab'.repeat(32),
  durationMs: 10_000,
  videoCodec: 'h264',
  audioCodec: null,
  frames: 250,
  packetsLost: 0,
};

/** What every adapter of the registry promises of video. */
export function videoConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`video on ${name}`, () => {
    const env = registryPerTest(newPlace);

    let phones = 0;
    async function addVehicle(more: Parameters<typeof vehicleFields>[1] = {}): Promise<VehicleId> {
      phones += 1;
      return (await env.registry.vehicles.create(vehicleFields(`Van ${phones}`, more))).id;
    }
    function fields(vehicleId: VehicleId, more: Partial<VideoProfileFields> = {}): VideoProfileFields {
      phones += 1;
      return {
        vehicleId,
        name: 'Recorder',
        protocol: 'jt1078',
        address: String(13_800_000_000 + phones),
        channels: [{ number: 1, name: 'Road', direction: 'front' }],
        quality: 'main',
        audio: true,
        maxFragmentSeconds: 900,
        maxParallelDownloads: 1,
        timeZone: 'Asia/Shanghai',
        ...more,
      };
    }
    async function addProfile(more: Partial<VideoProfileFields> = {}): Promise<VideoProfile> {
      return env.registry.videoProfiles.create(fields(await addVehicle(), more));
    }
    function ask(profile: VideoProfile, createdBy: UserId | null = null): Promise<VideoTask> {
      return env.registry.videoTasks.create({
        profileId: profile.id,
        createdBy,
        channel: 1,
        startMs: env.nowMs - 10 * MINUTE,
        endMs: env.nowMs - 9 * MINUTE,
        quality: 'main',
        audio: true,
        expiresAtMs: env.nowMs + 60 * MINUTE,
      });
    }
    const leaseAll = () => env.registry.videoQueue.lease(100, MINUTE);
    async function leaseOne() {
      const [leased, ...others] = await leaseAll();
      expect(others).toEqual([]);
      if (!leased) throw new Error('there is no work');
      return leased;
    }
    async function finish(task: VideoTask, file: VideoFile = FILE): Promise<void> {
      const leased = await leaseOne();
      expect(leased.task.id).toBe(task.id);
      for (const state of ['requested', 'downloading', 'processing'] as const)
        expect(await env.registry.videoQueue.step(leased, { state })).toMatchObject({ state });
      expect(await env.registry.videoQueue.step(leased, { state: 'done', file })).toMatchObject({
        state: 'done',
        file,
      });
    }
    const statesOf = async (id: VideoTaskId) => (await env.registry.videoTasks.history(id)).map(({ state }) => state);

    describe('profiles', () => {
      test('a profile is kept whole, and is among the definitions', async () => {
        const wanted = fields(await addVehicle(), { maxFragmentSeconds: 61.5, maxParallelDownloads: 1 });
        const profile = await env.registry.videoProfiles.create(wanted);
        expect(profile).toEqual({ ...wanted, kind: 'video-profile', id: profile.id, version: 1 });
        expect(await env.registry.videoProfiles.get(profile.id)).toEqual(profile);
        expect((await env.registry.snapshot()).at(-1)).toMatchObject({ kind: 'video-profile', definition: profile });
        const changed = await env.registry.videoProfiles.update(profile.id, 1, { timeZone: 'Europe/Berlin' });
        expect(changed).toEqual({ ...profile, version: 2, timeZone: 'Europe/Berlin' });
        expect(await env.registry.videoProfiles.update(profile.id, 2, { timeZone: 'Europe/Berlin' })).toEqual(changed);
        await expect(env.registry.videoProfiles.update(profile.id, 1, { name: 'x' })).rejects.toBeInstanceOf(
          StaleError,
        );
        const pending = (await env.registry.outbox.pending(100)).map(({ change }) => change);
        expect(pending.filter(({ kind }) => kind === 'video-profile').map(({ version }) => version)).toEqual([1, 2]);
      });

      test('a vehicle has one profile, and a phone number one terminal', async () => {
        const profile = await addProfile({ address: '13800000001' });
        await expect(env.registry.videoProfiles.create(fields(profile.vehicleId))).rejects.toBeInstanceOf(
          ConflictError,
        );
        const other = await addProfile({ address: '13800000002' });
        for (const address of ['13800000001', '0013800000001'])
          await expect(env.registry.videoProfiles.update(other.id, null, { address })).rejects.toBeInstanceOf(
            ConflictError,
          );
        await addProfile({ protocol: 'stream', address: 'rtsp://nvr/{channel}/{start}' });
        await addProfile({ protocol: 'stream', address: 'rtsp://nvr/{channel}/{start}' });
        await expect(env.registry.videoProfiles.create(fields(ABSENT as VehicleId))).rejects.toBeInstanceOf(
          UnknownReferenceError,
        );
      });

      describe('whose terminal the address is', () => {
        async function dealers() {
          const add = (login: string) => env.registry.users.create(userFields(login, { role: 'dealer' }), PASSWORD);
          const [one, other] = [await add('dealer'), await add('rival')];
          const as = (user: typeof one) => env.registry.as({ user, sessionId: null, address: null });
          return { one, other, asOne: as(one), asOther: as(other) };
        }
        const terminal = (id: string) => ({ terminalId: id as TerminalId });

        test('a profile has the terminal of its own vehicle, in whatever form, and never that of another', async () => {
          const { one, other, asOther } = await dealers();
          const theirs = await addVehicle({ dealerId: one.id, ...terminal('13800000055') });
          // A terminal that sends this number is known by the IMEI that it is as a binary number.
          const [, imei = ''] = terminalIdsOf('201234567890');
          await addVehicle({ dealerId: one.id, ...terminal(imei) });
          const padded = await addVehicle({ dealerId: other.id, ...terminal('0013800000055') });
          for (const address of ['13800000055', '0013800000055', imei, '201234567890'])
            await expect(
              asOther.videoProfiles.create(fields(padded, { address })),
              `as ${address}`,
            ).rejects.toBeInstanceOf(ConflictError);
          const own = await env.registry.videoProfiles.create(fields(theirs, { address: '13800000055' }));
          expect(await env.registry.videoProfiles.mayBeFetched(own)).toBe(true);
          const free = await asOther.vehicles.create(
            vehicleFields('Free', { dealerId: other.id, ...terminal('0013800000056') }),
          );
          const good = await asOther.videoProfiles.create(fields(free.id, { address: '13800000056' }));
          await expect(asOther.videoProfiles.update(good.id, null, { address: '13800000055' })).rejects.toBeInstanceOf(
            ConflictError,
          );
        });

        test('an address that is no terminal of a vehicle is for operators', async () => {
          const { other, asOther } = await dealers();
          const vehicle = await addVehicle({ dealerId: other.id });
          await expect(asOther.videoProfiles.create(fields(vehicle))).rejects.toBeInstanceOf(OperatorOnlyError);
          const stream = { protocol: 'stream', address: 'rtsp://nvr/{channel}/{start}' } as const;
          const url = await asOther.videoProfiles.create(fields(vehicle, stream));
          await env.registry.videoProfiles.delete(url.id, null);
          const profile = await env.registry.videoProfiles.create(fields(vehicle));
          await expect(
            asOther.videoProfiles.update(profile.id, null, { address: '13899999999' }),
          ).rejects.toBeInstanceOf(OperatorOnlyError);
          expect(await asOther.videoProfiles.update(profile.id, null, { name: 'Mine' })).toMatchObject({
            name: 'Mine',
          });
        });

        test('a vehicle does not get a terminal that another dealer’s profile has, one by one or in bulk', async () => {
          const { one, other } = await dealers();
          const profile = await addProfile({ address: '13800000055' });
          await env.registry.vehicles.update(profile.vehicleId, null, { dealerId: other.id });
          const mine = await addVehicle({ dealerId: one.id });
          for (const id of ['13800000055', '013800000055']) {
            const patch = terminal(id);
            await expect(env.registry.vehicles.update(mine, null, patch), id).rejects.toMatchObject({
              field: 'terminalId',
            });
            await expect(
              env.registry.vehicles.create(vehicleFields('New', { dealerId: one.id, ...patch })),
            ).rejects.toBeInstanceOf(ConflictError);
            await expect(
              env.registry.vehicles.writeAll([{ id: mine, expectedVersion: null, patch }], false),
            ).rejects.toMatchObject({ failures: [{ index: 0, error: { field: 'terminalId' } }] });
          }
          expect(await env.registry.vehicles.get(mine)).toMatchObject({ terminalId: null });
          // Its own vehicle may have it, and so may one of the same dealer: then nothing is fetched until the profile
          // is changed.
          const sibling = await addVehicle({ dealerId: other.id, ...terminal('13800000055') });
          expect(await env.registry.videoProfiles.mayBeFetched(profile)).toBe(false);
          for (const id of [sibling, profile.vehicleId])
            await expect(env.registry.vehicles.update(id, null, { dealerId: one.id }), id).rejects.toBeInstanceOf(
              ConflictError,
            );
          await env.registry.vehicles.update(sibling, null, { terminalId: null });
          await env.registry.vehicles.update(profile.vehicleId, null, terminal('13800000055'));
          expect(await env.registry.videoProfiles.mayBeFetched(profile)).toBe(true);
        });

        test('a profile from before addresses were checked does not keep the owner from one', async () => {
          const squatting = await addProfile({ address: '13800000055' });
          const owner = await addVehicle(terminal('13800000055'));
          const own = await env.registry.videoProfiles.create(fields(owner, { address: '13800000055' }));
          expect(await env.registry.videoProfiles.mayBeFetched(squatting)).toBe(false);
          expect(await env.registry.videoProfiles.mayBeFetched(own)).toBe(true);
          await env.registry.videoProfiles.update(squatting.id, null, { name: 'Renamed' });
          expect(await env.registry.videoProfiles.get(own.id)).toEqual(own);
        });
      });

      test('profiles are listed by what their vehicles are', async () => {
        const dealer = await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
        const group = await env.registry.groups.create({ name: 'G', dealerId: null });
        const own = await env.registry.videoProfiles.create(fields(await addVehicle({ dealerId: dealer.id })));
        const grouped = await env.registry.videoProfiles.create(fields(await addVehicle({ groupIds: [group.id] })));
        const ids = async (filter: Parameters<typeof env.registry.videoProfiles.list>[0]) =>
          (await env.registry.videoProfiles.list(filter, ALL)).items.map(({ id }) => id);
        expect(await ids({})).toEqual([own.id, grouped.id]);
        expect(await ids({ dealerId: dealer.id })).toEqual([own.id]);
        expect(await ids({ anyOfGroups: [group.id] })).toEqual([grouped.id]);
        expect(await ids({ anyOfGroups: [] })).toEqual([]);
        expect(await ids({ vehicleId: own.vehicleId })).toEqual([own.id]);
        const first = await env.registry.videoProfiles.list({}, { limit: 1, after: null });
        expect(first.items.map(({ id }) => id)).toEqual([own.id]);
        expect((await env.registry.videoProfiles.list({}, { limit: 1, after: first.next })).items).toEqual([grouped]);
      });

      test('the trail tells the vehicle’s dealer of it, without a login and password', async () => {
        const dealer = await env.registry.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
        const vehicleId = await addVehicle({ dealerId: dealer.id });
        const profile = await env.registry.videoProfiles.create(
          fields(vehicleId, { protocol: 'stream', address: 'rtsp://me:secret@nvr/{start}' }),
        );
        await env.registry.videoProfiles.update(profile.id, null, { address: 'rtsp://me:hidden@nvr/{start}' });
        await env.registry.videoProfiles.delete(profile.id, null);
        const { items } = await env.registry.audit.list({ subjectId: profile.id, ofDealer: dealer.id }, ALL);
        expect(items.map(({ action }) => action)).toEqual(['deleted', 'changed', 'created']);
        expect(JSON.stringify(items)).not.toMatch(/secret|hidden/);
        expect(items[0]?.before).toMatchObject({ address: 'rtsp://***@nvr/{start}' });
      });

      test('who is there is known since when, and forgotten at once', async () => {
        const profile = await addProfile();
        expect(await env.registry.videoProfiles.presence([profile.id])).toEqual(new Map());
        await env.registry.videoProfiles.setPresence(profile.id, true);
        const since = env.nowMs;
        env.nowMs += MINUTE;
        await env.registry.videoProfiles.setPresence(profile.id, true);
        const presence = async () => (await env.registry.videoProfiles.presence([profile.id])).get(profile.id);
        expect(await presence()).toEqual({ online: true, sinceMs: since });
        await env.registry.videoProfiles.forgetPresence();
        expect(await presence()).toEqual({ online: false, sinceMs: env.nowMs });
      });

      test('with a vehicle go its profile and what was asked of it', async () => {
        const profile = await addProfile();
        const done = await ask(profile);
        await finish(done);
        const task = await ask(profile);
        await env.registry.vehicles.delete(profile.vehicleId, null);
        expect(await env.registry.videoProfiles.get(profile.id)).toBeNull();
        expect(await env.registry.videoTasks.get(task.id)).toMatchObject({
          state: 'failed',
          reason: 'profile-deleted',
        });
        expect((await env.registry.videoTasks.list({}, ALL)).items).toEqual([]);
        // Its file goes with the erasure of the vehicle.
        expect((await env.registry.erasures.videoFiles([profile.vehicleId], 10)).map(({ id }) => id)).toEqual([
          done.id,
        ]);
        const pending = (await env.registry.outbox.pending(100)).map(({ change }) => change);
        expect(pending.at(-2)).toMatchObject({ kind: 'video-profile', version: 2, definition: null });
      });
    });

    describe('tasks', () => {
      test('a task goes its way step by step, and each is written down', async () => {
        const creator = await env.registry.users.create(userFields('anna'), PASSWORD);
        const profile = await addProfile();
        const task = await ask(profile, creator.id);
        expect(task).toMatchObject({ state: 'new', attempts: 0, vehicleId: profile.vehicleId, createdBy: creator.id });
        const leased = await leaseOne();
        expect(leased).toMatchObject({ task, profile, fetched: null });
        expect(await leaseAll()).toEqual([]);
        env.nowMs += 1000;
        await env.registry.videoQueue.step(leased, { state: 'requested' });
        await env.registry.videoQueue.step(leased, { state: 'downloading' });
        const half = await env.registry.videoQueue.progress(leased, { percent: 50, bytes: 500 }, MINUTE);
        expect(half).toMatchObject({ state: 'downloading', progressPercent: 50, progressBytes: 500, attempts: 1 });
        await env.registry.videoQueue.step(leased, { state: 'processing' });
        const done = await env.registry.videoQueue.step(leased, { state: 'done', file: FILE });
        expect(done).toMatchObject({ state: 'done', file: FILE, progressPercent: 100, finishedAtMs: env.nowMs });
        expect(await env.registry.videoTasks.get(task.id)).toEqual(done);
        expect(await env.registry.videoTasks.history(task.id)).toEqual([
          { state: 'new', atMs: env.nowMs - 1000, reason: null, detail: null },
          ...['requested', 'downloading', 'processing', 'done'].map((state) => ({
            state,
            atMs: env.nowMs,
            reason: null,
            detail: null,
          })),
        ]);
        expect(await leaseAll()).toEqual([]);
        expect(await env.registry.storedVideos.usage()).toEqual({ files: 1, bytes: 1000, oldestMs: env.nowMs });
        await env.registry.users.delete(creator.id, null);
        expect(await env.registry.videoTasks.get(task.id)).toMatchObject({ createdBy: null, state: 'done' });
      });

      test('a step that no task takes is a bug', async () => {
        await ask(await addProfile());
        const leased = await leaseOne();
        await expect(env.registry.videoQueue.step(leased, { state: 'done', file: FILE })).rejects.toThrow(
          'does not become',
        );
        expect(await env.registry.videoTasks.get(leased.task.id)).toEqual(leased.task);
      });

      test('one terminal works at one task, the oldest; terminals do not wait for each other', async () => {
        const [one, two] = [await addProfile(), await addProfile()];
        const first = await ask(one);
        const second = await ask(one);
        const other = await ask(two);
        const leased = await leaseAll();
        expect(leased.map(({ task }) => task.id).toSorted()).toEqual([first.id, other.id]);
        // Not even when the older one waits: the order is that of their creation.
        const mine = leased.find(({ task }) => task.id === first.id);
        if (!mine) throw new Error('it was leased');
        await env.registry.videoQueue.step(mine, {
          state: 'waiting',
          reason: 'busy',
          detail: 'it plays another',
          nextAttemptAtMs: env.nowMs + MINUTE,
        });
        expect(await leaseAll()).toEqual([]);
        await env.registry.videoTasks.cancel(first.id);
        expect((await leaseOne()).task.id).toBe(second.id);
      });

      test('a source that plays several at a time is asked for several', async () => {
        const profile = await addProfile({
          protocol: 'stream',
          address: 'http://nvr/{start}',
          maxParallelDownloads: 2,
        });
        const tasks = [await ask(profile), await ask(profile), await ask(profile)];
        const leased = await leaseAll();
        expect(leased.map(({ task }) => task.id)).toEqual(tasks.slice(0, 2).map(({ id }) => id));
        expect(await env.registry.videoQueue.lease(1, MINUTE)).toEqual([]);
      });

      test('of many workers at once, one has a task', async () => {
        await ask(await addProfile());
        const all = await Promise.all(Array.from({ length: 6 }, () => env.registry.videoQueue.lease(1, MINUTE)));
        expect(all.flat()).toHaveLength(1);
      });

      test('a task whose terminal is away waits until it is woken', async () => {
        const profile = await addProfile();
        const task = await ask(profile);
        const away = { state: 'waiting', reason: 'terminal-offline', detail: 'away', nextAttemptAtMs: null } as const;
        expect(await env.registry.videoQueue.step(await leaseOne(), away)).toMatchObject({ nextAttemptAtMs: null });
        env.nowMs += 59 * MINUTE;
        expect(await leaseAll()).toEqual([]);
        expect((await env.registry.videoQueue.waitingForTerminal()).map(({ id }) => id)).toEqual([profile.id]);
        await env.registry.videoQueue.wake(profile.id, 'waiting-for-terminal');
        expect(await env.registry.videoQueue.waitingForTerminal()).toEqual([]);
        // Still away: it waits on, and the history has no second line.
        await env.registry.videoQueue.step(await leaseOne(), away);
        expect(await statesOf(task.id)).toEqual(['new', 'waiting']);
        await env.registry.videoQueue.wake(profile.id, 'all');
        await finish(task);
      });

      test('a task that backs off is woken when its terminal came back, and not when it only is there', async () => {
        const profile = await addProfile();
        const task = await ask(profile);
        const nextAttemptAtMs = env.nowMs + MINUTE;
        const busy = { state: 'waiting', reason: 'busy', detail: 'busy', nextAttemptAtMs } as const;
        await env.registry.videoQueue.step(await leaseOne(), busy);
        await env.registry.videoQueue.wake(profile.id, 'waiting-for-terminal');
        expect(await leaseAll()).toEqual([]);
        expect(await env.registry.videoTasks.get(task.id)).toMatchObject({ nextAttemptAtMs });
        await env.registry.videoQueue.wake(profile.id, 'all');
        await finish(task);
      });

      test('a lease that ran out is somebody else’s, and the first has no more say', async () => {
        const task = await ask(await addProfile());
        const dead = await leaseOne();
        await env.registry.videoQueue.step(dead, { state: 'requested' });
        await env.registry.videoQueue.step(dead, { state: 'downloading' });
        env.nowMs += MINUTE - 1;
        expect(await leaseAll()).toEqual([]);
        env.nowMs += 1;
        const next = await leaseOne();
        expect(next.task).toMatchObject({ state: 'waiting', reason: 'interrupted', attempts: 1 });
        for (const step of [{ state: 'processing' }, { state: 'done', file: FILE }] as const)
          expect(await env.registry.videoQueue.step(dead, step)).toBeNull();
        expect(await env.registry.videoQueue.progress(dead, { percent: 1, bytes: 1 }, MINUTE)).toBeNull();
        expect(await env.registry.videoQueue.step(next, { state: 'requested' })).toMatchObject({ attempts: 2 });
        expect(await statesOf(task.id)).toEqual(['new', 'requested', 'downloading', 'waiting', 'requested']);
      });

      test('what was fetched is not fetched again', async () => {
        const task = await ask(await addProfile());
        const dead = await leaseOne();
        for (const state of ['requested', 'downloading', 'processing'] as const)
          await env.registry.videoQueue.step(dead, { state });
        const { sha256: _, ...facts } = FILE;
        await env.registry.videoQueue.fetched(dead, { ...facts, spool: 'a.mp4' });
        await env.registry.videoQueue.releaseLeases();
        const next = await leaseOne();
        expect(next.fetched).toEqual({ ...facts, spool: 'a.mp4' });
        await env.registry.videoQueue.step(next, { state: 'processing' });
        expect(await env.registry.videoQueue.step(next, { state: 'done', file: FILE })).toMatchObject({
          state: 'done',
        });
        expect(await statesOf(task.id)).toContain('waiting');
      });

      test('progress keeps the lease', async () => {
        await ask(await addProfile());
        const leased = await leaseOne();
        for (let n = 0; n < 3; n++) {
          env.nowMs += MINUTE - 1;
          expect(await env.registry.videoQueue.progress(leased, { percent: n, bytes: n }, MINUTE)).not.toBeNull();
        }
        env.nowMs += MINUTE - 1;
        expect(await leaseAll()).toEqual([]);
      });

      test('what is cancelled is over, for its worker too', async () => {
        const task = await ask(await addProfile());
        const leased = await leaseOne();
        expect(await env.registry.videoTasks.cancel(task.id)).toMatchObject({
          cancelled: true,
          task: { state: 'cancelled' },
        });
        expect(await env.registry.videoTasks.cancel(task.id)).toMatchObject({
          cancelled: false,
          task: { state: 'cancelled' },
        });
        expect(await env.registry.videoQueue.step(leased, { state: 'requested' })).toBeNull();
        expect(await statesOf(task.id)).toEqual(['new', 'cancelled']);
        await expect(env.registry.videoTasks.cancel(ABSENT as VideoTaskId)).rejects.toBeInstanceOf(NotFoundError);
      });

      const WANTED = { channel: 2, startMs: 1000, endMs: 2000, quality: 'sub', audio: false } as const;
      const VEHICLE = { vehicleName: 'Van', dealerId: null };

      test('what is changed is due at once as it then is, and lost to the worker that had it', async () => {
        const task = await ask(await addProfile());
        const leased = await leaseOne();
        const { videoTasks, videoQueue } = env.registry;
        const { task: changed } = await videoTasks.change(task.id, task.changedAtMs, WANTED, VEHICLE);
        expect(changed).toMatchObject({ ...WANTED, state: 'new' });
        expect(await videoTasks.get(task.id)).toEqual(changed);
        const stale = videoTasks.change(task.id, task.changedAtMs, WANTED, VEHICLE);
        await expect(stale).rejects.toBeInstanceOf(StaleError);
        expect(await videoQueue.step(leased, { state: 'requested' })).toBeNull();
        const again = await leaseOne();
        expect(again.task).toEqual(changed);
        await videoQueue.step(again, { state: 'requested' });
        expect(await videoTasks.change(task.id, null, WANTED, VEHICLE)).toMatchObject({ changed: false });
        const absent = videoTasks.change(ABSENT as VideoTaskId, null, WANTED, VEHICLE);
        await expect(absent).rejects.toBeInstanceOf(NotFoundError);
      });

      test('what an earlier attempt fetched is not stored for what is asked for now', async () => {
        const task = await ask(await addProfile());
        const leased = await leaseOne();
        const { videoTasks, videoQueue } = env.registry;
        for (const state of ['requested', 'downloading'] as const) await videoQueue.step(leased, { state });
        await videoQueue.fetched(leased, { ...FILE, spool: 'x.mp4' });
        env.nowMs += 2 * MINUTE;
        // The worker died over it: the next one would store what was fetched.
        const next = await leaseOne();
        expect(next).toMatchObject({ fetched: { spool: 'x.mp4' }, task: { state: 'waiting' } });
        await videoTasks.change(task.id, null, WANTED, VEHICLE);
        expect((await leaseOne()).fetched).toBeNull();
      });

      test('what is deleted is gone with its history, for its worker too', async () => {
        const task = await ask(await addProfile());
        const leased = await leaseOne();
        const { videoTasks, videoQueue } = env.registry;
        await expect(videoTasks.delete(task.id, 1, VEHICLE)).rejects.toBeInstanceOf(StaleError);
        await videoTasks.delete(task.id, null, VEHICLE);
        expect(await videoTasks.get(task.id)).toBeNull();
        expect(await videoTasks.history(task.id)).toEqual([]);
        expect(await videoQueue.step(leased, { state: 'requested' })).toBeNull();
        await expect(videoTasks.delete(task.id, null, VEHICLE)).rejects.toBeInstanceOf(NotFoundError);
      });

      test('a task that nothing came of in time fails, unless it is being worked on', async () => {
        const [one, two] = [await addProfile(), await addProfile()];
        const idle = await ask(one);
        await env.registry.videoQueue.step(await leaseOne(), {
          state: 'waiting',
          reason: 'terminal-offline',
          detail: 'away',
          nextAttemptAtMs: null,
        });
        env.nowMs += 59 * MINUTE + 30_000;
        await env.registry.videoTasks.create({ ...(await ask(two)), createdBy: null, expiresAtMs: env.nowMs + 1 });
        const busy = await leaseOne();
        await env.registry.videoTasks.cancel(busy.task.id);
        const working = await leaseOne();
        env.nowMs += 30_000;
        expect((await env.registry.videoQueue.expire(10)).map(({ id }) => id)).toEqual([idle.id]);
        expect(await env.registry.videoTasks.get(idle.id)).toMatchObject({ state: 'failed', reason: 'expired' });
        expect(await env.registry.videoTasks.get(working.task.id)).toMatchObject({ state: 'new' });
      });

      test('tasks are listed by what their vehicles are, the newest first', async () => {
        const group = await env.registry.groups.create({ name: 'G', dealerId: null });
        const [one, two] = [await addProfile(), await addProfile()];
        await env.registry.groups.setVehicle(group.id, two.vehicleId, true);
        const first = await ask(one);
        await finish(first);
        const second = await ask(two);
        const third = await ask(two);
        const ids = async (filter: Parameters<typeof env.registry.videoTasks.list>[0]) =>
          (await env.registry.videoTasks.list(filter, ALL)).items.map(({ id }) => id);
        expect(await ids({})).toEqual([third.id, second.id, first.id]);
        expect(await ids({ anyOfGroups: [group.id] })).toEqual([third.id, second.id]);
        expect(await ids({ anyOfGroups: [] })).toEqual([]);
        expect(await ids({ states: ['done'] })).toEqual([first.id]);
        expect(await ids({ profileId: one.id })).toEqual([first.id]);
        const page = await env.registry.videoTasks.list({}, { limit: 2, after: null });
        expect(
          (await env.registry.videoTasks.list({}, { limit: 2, after: page.next })).items.map(({ id }) => id),
        ).toEqual([first.id]);
        expect(await env.registry.videoTasks.unfinished(two.id)).toBe(2);
        expect(await env.registry.videoQueue.counts()).toEqual(new Map([['new', 2]]));
      });

      test('files are told apart from what is left of them, and old tasks are forgotten', async () => {
        const profile = await addProfile();
        const first = await ask(profile);
        await finish(first);
        env.nowMs += MINUTE;
        const second = await ask(profile);
        await finish(second, { ...FILE, bytes: 500 });
        expect(await env.registry.storedVideos.usage()).toEqual({
          files: 2,
          bytes: 1500,
          oldestMs: env.nowMs - MINUTE,
        });
        expect((await env.registry.storedVideos.oldestFiles(1)).map(({ id, bytes }) => [id, bytes])).toEqual([
          [first.id, 1000],
        ]);
        await env.registry.storedVideos.discardFile(first.id, 'Bus', null);
        expect(await env.registry.videoTasks.get(first.id)).toMatchObject({
          state: 'done',
          file: null,
          fileDeletedAtMs: env.nowMs,
        });
        expect(await env.registry.storedVideos.usage()).toMatchObject({ files: 1, bytes: 500 });
        expect(await env.registry.storedVideos.withFiles([first.id, second.id, ABSENT])).toEqual(new Set([second.id]));
        expect(await env.registry.storedVideos.clean(env.nowMs + 1, 10)).toBe(1);
        expect(await env.registry.videoTasks.get(first.id)).toBeNull();
        expect(await env.registry.videoTasks.history(first.id)).toEqual([]);
        expect(await env.registry.videoTasks.get(second.id)).toMatchObject({ state: 'done' });
      });
    });

    test('an account keeps the rights that it was given, and has those of before without any word', async () => {
      const plain = await env.registry.users.create(userFields('plain'), PASSWORD);
      expect(plain.rights).toEqual(['edit-geofences', 'edit-notifications', 'share']);
      const reader = await env.registry.users.create(userFields('reader', { rights: [] }), PASSWORD);
      expect((await env.registry.users.get(reader.id))?.rights).toEqual([]);
      await env.registry.users.update(reader.id, null, { rights: ['share', 'edit-vehicles', 'share'] });
      expect((await env.registry.users.get(reader.id))?.rights).toEqual(['edit-vehicles', 'share']);
    });

    test('an account keeps the services that it was granted', async () => {
      const none = await env.registry.users.create(userFields('none'), PASSWORD);
      expect(none.services).toEqual([]);
      const some = await env.registry.users.create(userFields('some', { services: ['video', 'video'] }), PASSWORD);
      expect((await env.registry.users.get(some.id))?.services).toEqual(['video']);
      expect(await env.registry.users.update(some.id, null, { services: [] })).toMatchObject({
        services: [],
        version: 2,
      });
      const terminalId = '1' as TerminalId;
      await env.registry.vehicles.create(vehicleFields('x', { terminalId }));
      expect((await env.registry.users.get(some.id))?.services).toEqual([]);
    });
  });
}
