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
import type { Tables, VideoTaskRow } from './schema.ts';
import type { Writer } from './store.ts';

/** Later than any time: only the terminal is waited for. */
export const NOT_BEFORE_WOKEN = 8_640_000_000_000_000;

export function fromTaskRow(row: VideoTaskRow): VideoTask {
  const state = row.state as VideoTaskState;
  return {
    id: row.id as VideoTaskId,
    profileId: row.profile_id as VideoProfileId,
    vehicleId: row.vehicle_id as VehicleId,
    createdBy: row.created_by as UserId | null,
    channel: row.channel,
    startMs: row.start_ms,
    endMs: row.end_ms,
    quality: row.quality as VideoQuality,
    audio: row.audio === 1,
    state,
    reason: row.reason as VideoFailure | null,
    detail: row.detail,
    attempts: row.attempts,
    progressPercent: row.progress_percent,
    progressBytes: row.progress_bytes,
    createdAtMs: row.created_at_ms,
    changedAtMs: row.changed_at_ms,
    expiresAtMs: row.expires_at_ms,
    nextAttemptAtMs: state === 'waiting' && row.next_attempt_at_ms < NOT_BEFORE_WOKEN ? row.next_attempt_at_ms : null,
    finishedAtMs: row.finished_at_ms,
    file: row.file === null || row.file_deleted_at_ms !== null ? null : (JSON.parse(row.file) as VideoFile),
    fileDeletedAtMs: row.file_deleted_at_ms,
  };
}

/** What of a row a step sets besides the state. */
export type StepColumns = Partial<Omit<VideoTaskRow, 'id' | 'state' | 'changed_at_ms' | 'finished_at_ms'>>;

/**
 * Takes a task one step on, and writes the step down.
 *
 * @throws {Error} when no such step exists: whoever asks for it has checked that it does
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
    changed_at_ms: nowMs,
    ...(isFinal(state) ? { finished_at_ms: nowMs, lease: null, lease_until_ms: 0, fetched: null } : {}),
  };
  await tx.updateTable('video_tasks').set(changed).where('id', '=', row.id).execute();
  const next = { ...row, ...changed };
  await noteTransition(tx, next, nowMs);
  return next;
}

/** Writes the state that a task has into its history. */
export async function noteTransition(tx: Transaction<Tables>, row: VideoTaskRow, nowMs: number): Promise<void> {
  const { last } = await tx
    .selectFrom('video_transitions')
    .select((e) => e.fn.coalesce(e.fn.max('nth'), e.lit(-1)).as('last'))
    .where('task_id', '=', row.id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('video_transitions')
    .values({
      task_id: row.id,
      nth: Number(last) + 1,
      state: row.state,
      at_ms: nowMs,
      reason: row.reason,
      detail: row.detail,
    })
    .execute();
}

/** Ends what is not finished of a profile that is going. */
export async function endTasksOf({ tx, nowMs }: Writer, profileId: VideoProfileId): Promise<void> {
  const rows = await tx
    .selectFrom('video_tasks')
    .selectAll()
    .where('profile_id', '=', profileId)
    .where('finished_at_ms', 'is', null)
    .execute();
  for (const row of rows)
    await takeStep(tx, row, 'failed', { reason: 'profile-deleted', detail: 'the profile was deleted' }, nowMs);
}

/** The tasks of an account that is going stay; whose they were is forgotten. */
export async function disownTasksOf(tx: Transaction<Tables>, userId: UserId): Promise<void> {
  await tx.updateTable('video_tasks').set({ created_by: null }).where('created_by', '=', userId).execute();
}

/** A file in the store, and whose it is. */
export interface StoredVideo {
  id: VideoTaskId;
  bytes: number;
  finishedAtMs: number;
}

export function storedVideo(row: Pick<VideoTaskRow, 'id' | 'file_bytes' | 'finished_at_ms'>): StoredVideo {
  return { id: row.id as VideoTaskId, bytes: row.file_bytes, finishedAtMs: row.finished_at_ms ?? 0 };
}
