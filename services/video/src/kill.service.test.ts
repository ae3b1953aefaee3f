import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { VideoTaskState } from '@outrider/domain';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { contentOf } from './terminals.fixture.ts';
import { Place, WAIT } from './video-service.fixture.ts';

let place: Place;
const workers = new Set<ChildProcess>();
beforeEach(async () => {
  place = await Place.open();
});
afterEach(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await place.close();
});

async function startWorker(holdAt: VideoTaskState | '' = ''): Promise<ChildProcess> {
  const fixture = new URL('./worker.fixture.ts', import.meta.url).pathname;
  const worker = spawn(process.execPath, [fixture, place.folder, holdAt], { stdio: ['ignore', 'pipe', 'inherit'] });
  workers.add(worker);
  await once(worker.stdout as NodeJS.ReadableStream, 'data');
  return worker;
}

async function kill(worker: ChildProcess): Promise<void> {
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
}

test.each(['new', 'waiting', 'requested', 'downloading', 'processing', 'done'] as const)(
  'killed while a task is %s, the service ends it after the next start: one whole file, and nothing twice',
  { timeout: 60_000 },
  async (state: VideoTaskState) => {
    const profile = await place.addProfile();
    // In the order of their creation, so that the second shows that nothing was forgotten.
    const tasks = [await place.ask(profile, { seconds: 10 }), await place.ask(profile, { seconds: 1 })];
    const [first] = tasks as [(typeof tasks)[0]];
    if (state === 'waiting') {
      const [leased] = await place.registry.videoQueue.lease(1, 1000);
      if (!leased) throw new Error('it is free');
      const retry = { reason: 'busy', detail: 'busy', nextAttemptAtMs: place.now() + 500 } as const;
      await place.registry.videoQueue.step(leased, { state, ...retry });
    }
    const isPhase = state === 'requested' || state === 'downloading' || state === 'processing';
    const worker = await startWorker(isPhase ? state : '');
    if (isPhase || state === 'done') await place.until(first.id, state);
    await kill(worker);
    const before = await place.states(first.id);
    await startWorker();
    for (const task of tasks) {
      const done = await place.until(task.id, 'done');
      const content = await place.content(task.id);
      expect(content.equals(contentOf(task))).toBe(true);
      expect(done.file).toMatchObject({
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      });
    }
    const after = await place.states(first.id);
    expect(after.slice(0, before.length)).toEqual(before);
    for (const once of ['new', 'done'] as const) expect(after.filter((each) => each === once)).toEqual([once]);
    await vi.waitFor(async () => expect(await place.spooled()).toEqual([]), WAIT);
    expect(await place.stored()).toEqual(tasks.map(({ id }) => `${id}.mp4`).toSorted());
    expect(await place.registry.storedVideos.usage()).toMatchObject({ files: 2, bytes: 1_100_000 });
  },
);

test('killed while it stores a file, the service stores it without fetching it again', {
  timeout: 60_000,
}, async () => {
  const task = await place.ask(await place.addProfile(), { seconds: 20 });
  const worker = await startWorker();
  // Fetched, and on its way into the store.
  await vi.waitFor(async () => {
    const [row] = await place.fetchedRows();
    expect(row).toBe(task.id);
  }, WAIT);
  await kill(worker);
  expect(await place.spooled()).toEqual([`${task.id}.mp4`]);
  await startWorker();
  const done = await place.until(task.id, 'done');
  expect(done.attempts).toBe(1);
  expect((await place.states(task.id)).filter((state) => state === 'downloading')).toHaveLength(1);
  expect((await place.content(task.id)).equals(contentOf(task))).toBe(true);
});
