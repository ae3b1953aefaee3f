import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TerminalId, VideoProfile, VideoTaskId } from '@outrider/domain';
import { sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentOf } from './terminals.fixture.ts';
import { Place, WAIT } from './video-service.fixture.ts';

let place: Place;
beforeEach(async () => {
  place = await Place.open();
});
afterEach(() => place.close());

describe('a task', () => {
  test('becomes a file, and each step is published', async () => {
    await place.start();
    const task = await place.ask(await place.addProfile());
    const done = await place.until(task.id, 'done');
    expect(done.file).toMatchObject({ bytes: 1_000_000, durationMs: 10_000, videoCodec: 'h264', frames: 250 });
    expect((await place.content(task.id)).equals(contentOf(task))).toBe(true);
    expect(await place.states(task.id)).toEqual(['new', 'requested', 'downloading', 'processing', 'done']);
    await vi.waitFor(() => expect(place.news.at(-1)?.state).toBe('done'), WAIT);
    const reported = place.news.map(({ state }) => state);
    expect(reported.filter((state, nth) => state !== reported[nth - 1])).toEqual(await place.states(task.id));
    await vi.waitFor(async () => expect(await place.spooled()).toEqual([]), WAIT);
    expect(place.errors).toEqual([]);
  });

  test('waits for a terminal that is away, and begins when it connects', async () => {
    const profile = await place.addProfile();
    place.terminals.away.add(profile.address);
    await place.start();
    const task = await place.ask(profile);
    const waiting = await place.until(task.id, 'waiting');
    expect(waiting).toMatchObject({ reason: 'terminal-offline', nextAttemptAtMs: null, attempts: 0 });
    expect(place.terminals.fetches).toEqual([]);
    place.terminals.connect(profile.address);
    await place.until(task.id, 'done');
    expect(await place.states(task.id)).toEqual(['new', 'waiting', 'requested', 'downloading', 'processing', 'done']);
    expect((await place.registry.videoProfiles.presence([profile.id])).get(profile.id)?.online).toBe(true);
    place.terminals.leave(profile.address);
    await vi.waitFor(async () => {
      expect((await place.registry.videoProfiles.presence([profile.id])).get(profile.id)?.online).toBe(false);
    }, WAIT);
  });

  test('a connection without a notification is found by polling', async () => {
    const profile = await place.addProfile();
    place.terminals.away.add(profile.address);
    await place.start();
    const task = await place.ask(profile);
    await place.until(task.id, 'waiting');
    place.terminals.away.delete(profile.address);
    place.aheadMs += 6000;
    await place.until(task.id, 'done');
  });

  test('fetches nothing once its address is the terminal of another vehicle', async () => {
    const profile = await place.addProfile();
    const { name } = (await place.registry.vehicles.get(profile.vehicleId)) ?? {};
    // Within one dealer a terminal may be moved; profiles from before addresses were checked look the same.
    const terminalId = profile.address as TerminalId;
    await place.registry.vehicles.create(sampleVehicleFields({ name: `Not ${name}`, terminalId }));
    await place.start();
    const task = await place.ask(profile);
    const failed = await place.until(task.id, 'failed');
    expect(failed).toMatchObject({ reason: 'address-not-allowed', detail: expect.stringContaining('another vehicle') });
    expect(place.terminals.fetches).toEqual([]);
    expect(await place.metrics.getSingleMetricAsString('outrider_video_profiles_refused')).toContain(
      'outrider_video_profiles_refused 1',
    );
    place.terminals.connect(profile.address);
    expect((await place.registry.videoProfiles.presence([profile.id])).get(profile.id)?.online ?? false).toBe(false);
  });

  test('that fails in passing is tried again; one that never will succeed is not', async () => {
    await place.start();
    const profile = await place.addProfile();
    place.terminals.failures.push('busy', 'connection-lost');
    const task = await place.ask(profile);
    expect(await place.until(task.id, 'waiting')).toMatchObject({ reason: 'busy', attempts: 1 });
    expect(place.terminals.fetches).toHaveLength(1);
    place.aheadMs += 6000;
    await vi.waitFor(async () => {
      expect(await place.registry.videoTasks.get(task.id)).toMatchObject({
        reason: 'connection-lost',
        state: 'waiting',
      });
    }, WAIT);
    place.aheadMs += 12_000;
    expect(await place.until(task.id, 'done')).toMatchObject({ attempts: 3, reason: null });
    place.terminals.failures.push('no-recording');
    const hopeless = await place.ask(profile);
    expect(await place.until(hopeless.id, 'failed')).toMatchObject({ reason: 'no-recording', attempts: 1 });
    expect(await place.stored()).toEqual([`${task.id}.mp4`]);
  });

  test('that backs off goes on doing so when its terminal is seen for the first time, and not when it comes back', async () => {
    await place.start();
    const profile = await place.addProfile();
    place.terminals.failures.push('busy');
    const task = await place.ask(profile);
    const { nextAttemptAtMs } = await place.until(task.id, 'waiting');
    await place.stop();
    // What an earlier run of the service knew of terminals is forgotten.
    await place.registry.videoProfiles.setPresence(profile.id, false);
    await place.start();
    await place.untilOnline(profile);
    expect(await place.registry.videoTasks.get(task.id)).toMatchObject({ attempts: 1, nextAttemptAtMs });
    place.terminals.leave(profile.address);
    place.terminals.connect(profile.address);
    await place.until(task.id, 'done');
  });

  test('that never comes as far as to be requested is not tried for ever', async () => {
    await place.start();
    for (let n = 0; n < 8; n++) place.terminals.earlyFailures.push('no-answer');
    const task = await place.ask(await place.addProfile());
    for (let attempts = 1; attempts < 8; attempts++) {
      await vi.waitFor(async () => {
        expect(await place.registry.videoTasks.get(task.id)).toMatchObject({ state: 'waiting', attempts });
      }, WAIT);
      place.aheadMs += 700_000;
    }
    expect(await place.until(task.id, 'failed')).toMatchObject({ reason: 'no-answer', attempts: 8 });
    expect(await place.states(task.id)).toEqual(['new', 'waiting', 'failed']);
  });

  test('a bug of a driver is reported, and the task tried again', async () => {
    await place.start();
    place.terminals.bugs.push(new Error('a bug'));
    const task = await place.ask(await place.addProfile());
    expect(await place.until(task.id, 'waiting')).toMatchObject({ reason: 'source-failed' });
    expect(place.errors).toHaveLength(1);
    place.aheadMs += 10_000;
    await place.until(task.id, 'done');
  });

  test('that nothing comes of in time fails', async () => {
    const profile = await place.addProfile();
    place.terminals.away.add(profile.address);
    await place.start();
    const task = await place.ask(profile, { hours: 1 });
    await place.until(task.id, 'waiting');
    place.aheadMs += 3_600_001;
    expect(await place.until(task.id, 'failed')).toMatchObject({ reason: 'expired' });
    await vi.waitFor(() => expect(place.news.at(-1)).toMatchObject({ state: 'failed', reason: 'expired' }), WAIT);
  });

  test.each(['requested', 'downloading', 'processing'] as const)(
    'that is cancelled while %s leaves nothing',
    async (phase) => {
      await place.start();
      const profile = await place.addProfile();
      place.terminals.holdAt = phase;
      const task = await place.ask(profile);
      await place.until(task.id, phase);
      await place.cancel(task.id);
      await vi.waitFor(() => expect(place.terminals.log).toEqual([`begin ${task.id}`, `end ${task.id}`]), WAIT);
      await vi.waitFor(async () => expect(await place.spooled()).toEqual([]), WAIT);
      expect(await place.registry.videoTasks.get(task.id)).toMatchObject({ state: 'cancelled', file: null });
      expect(await place.stored()).toEqual([]);
      // The terminal is free for the next.
      place.terminals.holdAt = null;
      const next = await place.ask(profile);
      await place.until(next.id, 'done');
      expect(place.errors).toEqual([]);
    },
  );

  test('whose profile is deleted ends with it', async () => {
    await place.start({ leaseMs: 3000 });
    const profile = await place.addProfile();
    place.terminals.holdAt = 'downloading';
    const task = await place.ask(profile);
    await place.until(task.id, 'downloading');
    await place.registry.videoProfiles.delete(profile.id, null);
    // Nobody reported: the next renewal of the lease finds it out.
    await vi.waitFor(() => expect(place.terminals.log).toHaveLength(2), WAIT);
    expect(await place.registry.videoTasks.get(task.id)).toMatchObject({ state: 'failed', reason: 'profile-deleted' });
    expect(await place.stored()).toEqual([]);
  });
});

describe('several tasks', () => {
  test('of one terminal come one after the other, in the order of their creation; terminals do not wait for each other', async () => {
    place.terminals.partMs = 1;
    await place.start();
    const [one, two] = [await place.addProfile(), await place.addProfile()];
    const ofOne = [];
    const ofTwo = [];
    for (let n = 0; n < 3; n++) {
      ofOne.push(await place.ask(one, { seconds: 2 }));
      ofTwo.push(await place.ask(two, { seconds: 2 }));
    }
    for (const task of [...ofOne, ...ofTwo]) await place.until(task.id, 'done');
    const linesOf = (tasks: { id: VideoTaskId }[]) =>
      place.terminals.log.filter((line) => tasks.some(({ id }) => line.endsWith(id)));
    for (const tasks of [ofOne, ofTwo])
      expect(linesOf(tasks)).toEqual(tasks.flatMap(({ id }) => [`begin ${id}`, `end ${id}`]));
    expect(place.terminals.mostAtOnce).toBe(2);
  });

  test('no more are fetched at a time than the service may', async () => {
    place.terminals.partMs = 2;
    await place.start({ maxDownloads: 2 });
    const tasks = [];
    for (let n = 0; n < 5; n++) tasks.push(await place.ask(await place.addProfile(), { seconds: 1 }));
    for (const task of tasks) await place.until(task.id, 'done');
    expect(place.terminals.mostAtOnce).toBe(2);
  });
});

describe('the service', () => {
  test('stopped in the middle, it goes on at the next start', async () => {
    await place.start();
    place.terminals.holdAt = 'downloading';
    const task = await place.ask(await place.addProfile());
    await place.until(task.id, 'downloading');
    await place.stop();
    expect(await place.registry.videoTasks.get(task.id)).toMatchObject({ state: 'waiting', reason: 'interrupted' });
    expect(await place.spooled()).toEqual([]);
    expect(place.terminals.closed).toBe(true);
    place.terminals.release();
    await place.start();
    await place.until(task.id, 'done');
    expect((await place.content(task.id)).equals(contentOf(task))).toBe(true);
  });

  test('two workers share the work, and no task is done twice', async () => {
    const tasks = [];
    for (let n = 0; n < 6; n++) tasks.push(await place.ask(await place.addProfile(), { seconds: 1 }));
    place.terminals.partMs = 1;
    const first = await place.start({ isAlone: false, maxDownloads: 2 });
    place.metrics.clear();
    await place.start({ isAlone: false, maxDownloads: 2, spool: join(place.folder, 'spool-2') });
    for (const task of tasks) await place.until(task.id, 'done');
    await first.stop();
    expect(place.terminals.fetches).toHaveLength(6);
    expect(await place.stored()).toEqual(tasks.map(({ id }) => `${id}.mp4`).toSorted());
  });

  test('a worker that lost its lease keeps its hands off', async () => {
    await place.start({ leaseMs: 1000 });
    place.terminals.holdAt = 'downloading';
    const task = await place.ask(await place.addProfile());
    await place.until(task.id, 'downloading');
    // Another worker took it meanwhile, and did it.
    await place.registry.videoQueue.releaseLeases();
    const [other] = await place.registry.videoQueue.lease(1, 60_000);
    if (!other) throw new Error('it is free');
    await vi.waitFor(() => expect(place.terminals.log).toHaveLength(2), WAIT);
    for (const state of ['requested', 'downloading', 'processing'] as const)
      await place.registry.videoQueue.step(other, { state });
    await place.files.put(`${task.id}.mp4`, ReadableStream.from([Buffer.from('theirs')]));
    const facts = { durationMs: 1, videoCodec: 'h264', audioCodec: null, frames: 1, packetsLost: 0 };
    await place.registry.videoQueue.step(other, { state: 'done', file: { ...facts, bytes: 6, sha256: 'ab' } });
    await place.stop();
    expect((await place.content(task.id)).toString()).toBe('theirs');
    expect(await place.states(task.id)).toEqual([
      ...['new', 'requested', 'downloading', 'waiting', 'requested', 'downloading', 'processing', 'done'],
    ]);
  });

  test('videos go when they are old, and the oldest when there is no space', async () => {
    await place.start({ retentionDays: 2, quotaBytes: 2_500_000 });
    const profile = await place.addProfile();
    const [first, second, third] = [await place.ask(profile), await place.ask(profile), await place.ask(profile)];
    for (const { id } of [first, second, third]) await place.until(id, 'done');
    expect(await place.stored()).toEqual([`${second.id}.mp4`, `${third.id}.mp4`].toSorted());
    expect(await place.registry.videoTasks.get(first.id)).toMatchObject({ state: 'done', file: null });
    const metrics = await place.metrics.metrics();
    expect(metrics).toMatch(/outrider_video_stored_bytes 2000000/);
    expect(metrics).toMatch(/outrider_video_quota_bytes 2500000/);
    expect(metrics).toMatch(/outrider_video_retention_days 2/);
    expect(metrics).toMatch(/outrider_video_tasks_finished_total\{state="done",reason=""\} 3/);
    expect(metrics).toMatch(/outrider_video_fetched_bytes_total 3000000/);
    place.aheadMs += 2 * 86_400_000 + 1000;
    await vi.waitFor(async () => expect(await place.stored()).toEqual([]), WAIT);
    // A file goes before its row says so.
    await vi.waitFor(
      async () => expect(await place.registry.videoTasks.get(third.id)).toMatchObject({ file: null }),
      WAIT,
    );
    // What is larger than all the space there is never comes to anything.
    const large = await place.ask(profile, { seconds: 30 });
    expect(await place.until(large.id, 'failed')).toMatchObject({ reason: 'too-large' });
    place.aheadMs += 91 * 86_400_000;
    await vi.waitFor(async () => expect(await place.registry.videoTasks.get(first.id)).toBeNull(), WAIT);
  });

  test('a dealer with many videos gives up its own, not the older ones of others', async () => {
    const dealer = async (login: string) =>
      (await place.registry.users.create(sampleUserFields({ login, role: 'dealer' }), 'a long password')).id;
    const [quiet, noisy] = [await dealer('quiet'), await dealer('noisy')];
    await place.start({ quotaBytes: 3_500_000 });
    const own = await place.addProfile();
    const [ofQuiet, ofNoisy] = [await place.addProfile({}, quiet), await place.addProfile({}, noisy)];
    const done = async (profile: VideoProfile) => {
      const { id } = await place.ask(profile);
      await place.until(id, 'done');
      return `${id}.mp4`;
    };
    const [oldest, second] = [await done(ofQuiet), await done(own)];
    const noise: string[] = [];
    for (let nth = 0; nth < 3; nth++) noise.push(await done(ofNoisy));
    expect(await place.stored()).toEqual([oldest, second, noise[2]].toSorted());
    // A limit of its own holds before the quota of all is reached.
    const limit = { scope: 'dealer', kind: 'storageBytes', limit: 1_200_000 } as const;
    await place.registry.quotas.set(quiet, [limit], async () => {});
    const newer = await done(ofQuiet);
    expect(await place.stored()).toEqual([newer, second, noise[2]].toSorted());
    // What can't fit, whatever goes, takes nothing with it.
    const large = await place.ask(ofQuiet, { seconds: 20 });
    await vi.waitFor(
      async () => expect(await place.registry.videoTasks.get(large.id)).toMatchObject({ reason: 'no-space' }),
      WAIT,
    );
    expect(await place.stored()).toEqual([newer, second, noise[2]].toSorted());
  });

  test('files of nobody are removed, those of others left alone', async () => {
    const stray = `${crypto.randomUUID()}.mp4`;
    await place.files.put(stray, ReadableStream.from([Buffer.from('x')]));
    await place.files.put('notes.txt', ReadableStream.from([Buffer.from('x')]));
    await place.start();
    const task = await place.ask(await place.addProfile());
    await place.until(task.id, 'done');
    expect(await place.stored()).toContain(stray);
    place.aheadMs += 2 * 3_600_000;
    await vi.waitFor(
      async () => expect(await place.stored()).toEqual([`${task.id}.mp4`, 'notes.txt'].toSorted()),
      WAIT,
    );
  });

  test('what an earlier run left in the spool is cleared away', async () => {
    await place.start();
    await place.stop();
    await writeFile(join(place.folder, 'spool', `${crypto.randomUUID()}.mp4`), 'half');
    await writeFile(join(place.folder, 'spool', 'what'), 'ever');
    await place.start();
    expect(await place.spooled()).toEqual([]);
  });

  test('a registry that fails for a moment does not end it', async () => {
    const lease = vi.spyOn(place.registry.videoQueue, 'lease').mockRejectedValueOnce(new Error('away'));
    const video = await place.start();
    await vi.waitFor(() => expect(place.errors).toHaveLength(1), WAIT);
    const task = await place.ask(await place.addProfile());
    await place.until(task.id, 'done');
    expect(video.healthy).toBe(true);
    lease.mockRestore();
  });
});
