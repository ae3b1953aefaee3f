import type { ListedVideoTask } from '@outrider/client';

/** One interval of one vehicle, with a task for each of its channels. */
export interface Clip {
  key: string;
  profileId: string;
  vehicleId: string;
  startMs: number;
  endMs: number;
  /** By channel. If a channel was requested again, its newest task. */
  tasks: readonly ListedVideoTask[];
}

type State = ListedVideoTask['status'];
const FINAL: readonly State[] = ['done', 'failed', 'cancelled'];

/** Whether a task in this state will not change any more. */
export function isFinal(state: State): boolean {
  return FINAL.includes(state);
}

/** Groups tasks, newest first, into clips, in the order of their newest task. */
export function clipsOf(tasks: readonly ListedVideoTask[]): Clip[] {
  const byKey = Map.groupBy(tasks, ({ profileId, start, end }) => `${profileId} ${start} ${end}`);
  return [...byKey].map(([key, [first, ...more]]) => {
    const { profileId, vehicleId, start, end } = first as ListedVideoTask;
    const newest = new Map<number, ListedVideoTask>();
    for (const task of [first as ListedVideoTask, ...more])
      if (!newest.has(task.channel)) newest.set(task.channel, task);
    return {
      ...{ key, profileId, vehicleId, startMs: Date.parse(start), endMs: Date.parse(end) },
      tasks: [...newest.values()].sort((a, b) => a.channel - b.channel),
    };
  });
}

/** The tasks of a clip whose video can be watched. */
export function watchable({ tasks }: Clip): readonly ListedVideoTask[] {
  return tasks.filter(({ file }) => file !== null);
}

/** Whether the order can still be changed: the request was not sent to the terminal yet. */
export function mayChange({ status }: ListedVideoTask): boolean {
  return status === 'new' || status === 'waiting';
}

/** Whether a video that was deleted, or never arrived, can be requested again. */
export function mayRetry({ status, file }: ListedVideoTask): boolean {
  return isFinal(status) && file === null;
}

const DEFAULT_SECONDS = 60;

/** Initial clip of the order form: around a moment, not beyond now. */
export function clipAround(atMs: number, nowMs: number, mostSeconds: number): { startMs: number; endMs: number } {
  const lengthMs = Math.min(DEFAULT_SECONDS, mostSeconds) * 1000;
  const endMs = Math.floor(Math.min(nowMs, atMs + lengthMs / 2) / 1000) * 1000;
  return { startMs: endMs - lengthMs, endMs };
}
