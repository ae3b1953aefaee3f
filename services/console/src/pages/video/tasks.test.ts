import type { ListedVideoTask } from '@outrider/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { VideoTasks } from './tasks.ts';

const ID = '0190a000-0000-7000-8000-000000000001';
const taskIn = (status: string) => ({ id: ID, status, progress: { percent: 0, bytes: 0 } }) as ListedVideoTask;
const news = (status: string) => ({ ...taskIn(status), type: 'video-task' as const, vehicleId: ID });

/** Calls that wait for their answer, by the end of their path. */
let calls: { path: string; answer: (body: unknown) => void }[];
beforeEach(() => {
  calls = [];
  vi.stubGlobal(
    'fetch',
    (request: Request | string) =>
      new Promise((resolve) => {
        const path = new URL(typeof request === 'string' ? request : request.url, 'http://console.test').pathname;
        calls.push({ path, answer: (body) => resolve(Response.json(body)) });
      }),
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const called = async (count: number) => {
  await vi.waitFor(() => expect(calls.length).toBe(count));
  return calls[count - 1] as (typeof calls)[number];
};
const page = (status: string) => ({ items: [taskIn(status)], nextCursor: null });
const statusOf = (tasks: VideoTasks) => tasks.items?.[0]?.status;

async function listed(status: string): Promise<VideoTasks> {
  const tasks = new VideoTasks({ profileId: null, status: null });
  const reading = tasks.reload();
  (await called(1)).answer(page(status));
  await reading;
  expect(statusOf(tasks)).toBe(status);
  return tasks;
}

test('what the live API says while the list is read stands: the answer may be older', async () => {
  const tasks = await listed('downloading');
  const reading = tasks.reload();
  const list = await called(2);
  tasks.take(news('ready'));
  (await called(3)).answer(taskIn('ready'));
  await vi.waitFor(() => expect(statusOf(tasks)).toBe('ready'));
  list.answer(page('downloading'));
  await reading;
  expect(statusOf(tasks)).toBe('ready');
  // And is forgotten with the next time that all is read.
  const again = tasks.reload();
  (await called(4)).answer(page('deleted'));
  await again;
  expect(statusOf(tasks)).toBe('deleted');
});

test('of two answers about a task, that to the later question stands', async () => {
  const tasks = await listed('waiting');
  tasks.take(news('downloading'));
  const first = await called(2);
  tasks.take(news('ready'));
  (await called(3)).answer(taskIn('ready'));
  await vi.waitFor(() => expect(statusOf(tasks)).toBe('ready'));
  first.answer(taskIn('downloading'));
  await new Promise((resolve) => setTimeout(resolve));
  expect(statusOf(tasks)).toBe('ready');
});
