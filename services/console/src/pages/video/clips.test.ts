import type { ListedVideoTask } from '@outrider/client';
import { expect, test } from 'vitest';
import { clipAround, clipsOf, mayRetry, watchable } from './clips.ts';

const FILE = {
  ...{ bytes: 1000, durationSeconds: 60, videoCodec: 'h264', audioCodec: null, frames: 1500, packetsLost: 0 },
  expiresAt: '2026-02-15T12:00:00.000Z',
};
function task(id: string, more: Partial<ListedVideoTask> = {}): ListedVideoTask {
  return {
    ...{ id, profileId: 'p', vehicleId: 'v', createdBy: null, channel: 1, quality: 'main', audio: true },
    ...{ start: '2026-01-15T11:30:00.000Z', end: '2026-01-15T11:31:00.000Z', status: 'done', reason: null },
    ...{ detail: null, attempts: 1, progress: { percent: 100, bytes: 1000 }, nextAttemptAt: null },
    ...{ createdAt: '2026-01-15T12:00:00.000Z', changedAt: '2026-01-15T12:00:00.000Z' },
    ...{ expiresAt: '2026-01-16T12:00:00.000Z', finishedAt: null, file: FILE, fileDeletedAt: null },
    ...more,
  } as ListedVideoTask;
}

test('channels of one interval are one clip, in the order of the channels', () => {
  const other = { start: '2026-01-15T10:00:00.000Z', end: '2026-01-15T10:01:00.000Z' };
  const clips = clipsOf([task('c', { channel: 2 }), task('b', other), task('a')]);
  expect(clips.map(({ tasks }) => tasks.map(({ id }) => id))).toEqual([['a', 'c'], ['b']]);
  expect(clips[0]).toMatchObject({ startMs: Date.UTC(2026, 0, 15, 11, 30), endMs: Date.UTC(2026, 0, 15, 11, 31) });
});

test('a channel that was ordered again is shown once, by its newest task', () => {
  const [clip] = clipsOf([task('again'), task('first', { status: 'failed', file: null })]);
  expect(clip?.tasks.map(({ id }) => id)).toEqual(['again']);
});

test('what has a file is watched; what has none and is over can be ordered again', () => {
  const failed = task('failed', { channel: 2, status: 'failed', file: null });
  const deleted = task('deleted', { channel: 3, file: null });
  const onItsWay = task('loading', { channel: 4, status: 'downloading', file: null });
  const all = [task('done'), failed, deleted, onItsWay];
  expect(watchable(clipsOf(all)[0] as never).map(({ id }) => id)).toEqual(['done']);
  expect(all.filter(mayRetry).map(({ id }) => id)).toEqual(['failed', 'deleted']);
});

test('the form begins with a minute around the moment, whole seconds, not beyond now', () => {
  const nowMs = Date.UTC(2026, 0, 15, 12);
  const atMs = nowMs - 600_500;
  expect(clipAround(atMs, nowMs, 900)).toEqual({ startMs: nowMs - 631_000, endMs: nowMs - 571_000 });
  expect(clipAround(nowMs, nowMs, 900)).toEqual({ startMs: nowMs - 60_000, endMs: nowMs });
  expect(clipAround(nowMs, nowMs, 20)).toEqual({ startMs: nowMs - 20_000, endMs: nowMs });
});
