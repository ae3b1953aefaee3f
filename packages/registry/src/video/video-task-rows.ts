import {
  isFinal,
  mayBecome,
  type UserId,
  type VehicleId,
  type VideoFailure,
  type VideoFile,
  type VideoProfileId,
  type VideoQuality,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskState,
} from '@outrider/domain';
import type { Transaction } from 'kysely';
import type { Tables, VideoTaskRow } from '../store/schema.ts';
import { inChunks, type Reader, type Writer } from '../store/store.ts';

/** Later than any time: the task waits only for the terminal. */
export const NOT_BEFORE_WOKEN = 8_640_000_000_000_000;

export function fromTaskRow(row: VideoTaskRow): VideoTask {
  const state = row.state as VideoTaskState;
  return {
    id: row.id as VideoTaskId,
    profileId: row.profileId as VideoProfileId,
    vehicleId: row.vehicleId as VehicleId,
    createdBy: row.createdBy as UserId | null,
    channel: row.channel,
    startMs: row.startMs,
    endMs: row.endMs,
    quality: row.quality as VideoQuality,
    audio: row.audio === 1,
    state,
    reason: row.reason as VideoFailure | null,
    detail: row.detail,
    attempts: row.attempts,
    progressPercent: row.progressPercent,
    progressBytes: row.progressBytes,
    createdAtMs: row.createdAtMs,
    changedAtMs: row.changedAtMs,
    expiresAtMs: row.expiresAtMs,
    nextAttemptAtMs: state === 'waiting' && row.nextAttemptAtMs < NOT_BEFORE_WOKEN ? row.nextAttemptAtMs : null,
    finishedAtMs: row.finishedAtMs,
    file: row.file === null || row.fileDeletedAtMs !== null ? null : (JSON.parse(row.file) as VideoFile),
    fileDeletedAtMs: row.fileDeletedAtMs,
  };
}

/** Columns that a step sets besides the state. */
export type StepColumns = Partial<Omit<VideoTaskRow, 'id' | 'state' | 'changedAtMs' | 'finishedAtMs'>>;

/**
 * Moves a task to its next state, and records the step.
 *
 * @throws {Error} when no such step exists: callers check that it does
 */
export async function takeStep(
  tx: Transaction<Tables>,
  row: VideoTaskRow,
  state: VideoTaskState,
  columns: StepColumns,
  nowMs: number,
): Promise<VideoTaskRow> {
  const from = row.state as VideoTaskState;
  if (!mayBecome(from, state)) throw new Error(`a task that is ${from} does not become ${state}`);
  const changed = {
    ...columns,
    state,
    changedAtMs: nowMs,
    ...(isFinal(state) ? { finishedAtMs: nowMs, lease: null, leaseUntilMs: 0, fetched: null } : {}),
  };
  await tx.updateTable('videoTasks').set(changed).where('id', '=', row.id).execute();
  const next = { ...row, ...changed };
  await noteTransition(tx, next, nowMs);
  return next;
}

/** Appends the state of a task to its history. */
export async function noteTransition(tx: Transaction<Tables>, row: VideoTaskRow, nowMs: number): Promise<void> {
  const { last } = await tx
    .selectFrom('videoTransitions')
    .select((e) => e.fn.coalesce(e.fn.max('nth'), e.lit(-1)).as('last'))
    .where('taskId', '=', row.id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('videoTransitions')
    .values({
      taskId: row.id,
      nth: Number(last) + 1,
      state: row.state,
      atMs: nowMs,
      reason: row.reason,
      detail: row.detail,
    })
    .execute();
}

/** Fails the unfinished tasks of a profile that is being deleted. */
export async function endTasksOf({ tx, nowMs }: Writer, profileId: VideoProfileId): Promise<void> {
  const rows = await tx
    .selectFrom('videoTasks')
    .selectAll()
    .where('profileId', '=', profileId)
    .where('finishedAtMs', 'is', null)
    .execute();
  for (const row of rows)
    await takeStep(tx, row, 'failed', { reason: 'profile-deleted', detail: 'the profile was deleted' }, nowMs);
}

/** Keeps the tasks of an account that is being deleted, but removes the reference to it. */
export async function disownTasksOf(tx: Transaction<Tables>, userId: UserId): Promise<void> {
  await tx.updateTable('videoTasks').set({ createdBy: null }).where('createdBy', '=', userId).execute();
}

/** A video file in the store. */
export interface StoredVideo {
  id: VideoTaskId;
  bytes: number;
  finishedAtMs: number;
}

export function storedVideo(row: Pick<VideoTaskRow, 'id' | 'fileBytes' | 'finishedAtMs'>): StoredVideo {
  return { id: row.id as VideoTaskId, bytes: row.fileBytes, finishedAtMs: row.finishedAtMs ?? 0 };
}

/** Deletes tasks with their histories. */
export async function deleteTasks(tx: Reader, rows: readonly { id: string }[]): Promise<void> {
  for (const some of inChunks(rows.map(({ id }) => id))) {
    await tx.deleteFrom('videoTransitions').where('taskId', 'in', some).execute();
    await tx.deleteFrom('videoTasks').where('id', 'in', some).execute();
  }
}
