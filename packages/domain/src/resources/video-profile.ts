import type { UserId, VehicleId, VideoProfileId, VideoTaskId } from '../ids.ts';
import { isoTime } from '../json.ts';
import { type Caller, maySeeVehicle, type SeenVehicle } from '../rights.ts';
import { hasScope, type Keyed } from './api-key.ts';
import type { Definition } from './definitions.ts';
import type { User } from './user.ts';

/** How recordings are fetched: JT/T 808 with JT/T 1078, or a URL that plays them (RTSP, HTTP). */
export const VIDEO_PROTOCOLS = ['jt1078', 'stream'] as const;
export type VideoProtocol = (typeof VIDEO_PROTOCOLS)[number];

/** Viewing direction of a camera. */
export const CAMERA_DIRECTIONS = ['front', 'rear', 'left', 'right', 'cabin', 'driver', 'cargo', 'other'] as const;
export type CameraDirection = (typeof CAMERA_DIRECTIONS)[number];

/** Terminals record each channel twice: `main` in full quality, `sub` reduced. */
export const VIDEO_QUALITIES = ['main', 'sub'] as const;
export type VideoQuality = (typeof VIDEO_QUALITIES)[number];

/** One camera of a terminal. */
export interface VideoChannel {
  /** The terminal's channel number, from 1. */
  number: number;
  name: string;
  direction: CameraDirection;
}

/** The video terminal of a vehicle: its address and capabilities. */
export interface VideoProfile {
  kind: 'video-profile';
  id: VideoProfileId;
  version: number;
  /** A vehicle has at most one profile. */
  vehicleId: VehicleId;
  name: string;
  protocol: VideoProtocol;
  /**
   * `jt1078`: phone number of the terminal, digits without leading zeros. `stream`: template of a URL, which only the
   * registry has; elsewhere it is masked (see {@link withoutSecrets}).
   */
  address: string;
  channels: readonly VideoChannel[];
  /** Defaults for tasks that do not specify them. */
  quality: VideoQuality;
  audio: boolean;
  maxFragmentSeconds: number;
  /** Number of fragments fetched from the terminal at the same time. */
  maxParallelDownloads: number;
  /** IANA name of the time zone in which the terminal labels its recordings. */
  timeZone: string;
}

/**
 * `new`: requested by a client. `waiting`: the terminal is offline, or the next attempt is not due. `requested`: the
 * terminal was asked to play. `downloading`: frames arrive. `processing`: the file is being finished and stored.
 */
export const VIDEO_TASK_STATES = [
  'new',
  'waiting',
  'requested',
  'downloading',
  'processing',
  'done',
  'failed',
  'cancelled',
] as const;
export type VideoTaskState = (typeof VIDEO_TASK_STATES)[number];

/** Why there is no video, or not yet. */
export const VIDEO_FAILURES = [
  'terminal-offline',
  'no-recording',
  'refused',
  'busy',
  'no-answer',
  'stalled',
  'connection-lost',
  'bad-stream',
  'unsupported-codec',
  'unreachable',
  'address-not-allowed',
  'source-failed',
  'too-large',
  'no-space',
  'interrupted',
  'expired',
  'profile-deleted',
] as const;
export type VideoFailure = (typeof VIDEO_FAILURES)[number];

/** A stored video file. */
export interface VideoFile {
  bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
  durationMs: number;
  videoCodec: string;
  audioCodec: string | null;
  frames: number;
  packetsLost: number;
}

/** A request for a fragment of video, with its progress. */
export interface VideoTask {
  id: VideoTaskId;
  profileId: VideoProfileId;
  vehicleId: VehicleId;
  /** Null: the account was deleted. */
  createdBy: UserId | null;
  channel: number;
  startMs: number;
  endMs: number;
  quality: VideoQuality;
  audio: boolean;
  state: VideoTaskState;
  /** Result of the last attempt: the reason of its failure, if it failed. Null: nothing to report. */
  reason: VideoFailure | null;
  detail: string | null;
  /** Number of attempts started. */
  attempts: number;
  progressPercent: number;
  progressBytes: number;
  createdAtMs: number;
  changedAtMs: number;
  /** No further attempts after this time. */
  expiresAtMs: number;
  /** When the next attempt is due; null where the task only waits for the terminal, or for nothing. */
  nextAttemptAtMs: number | null;
  finishedAtMs: number | null;
  /** Null until the task is done, and again after the file was deleted because of its age or to free space. */
  file: VideoFile | null;
  fileDeletedAtMs: number | null;
}

/** One state change of a task. */
export interface VideoTaskTransition {
  state: VideoTaskState;
  atMs: number;
  reason: VideoFailure | null;
  detail: string | null;
}

const NEXT: Readonly<Record<VideoTaskState, readonly VideoTaskState[]>> = {
  new: ['waiting', 'requested', 'failed', 'cancelled'],
  // A worker may crash between fetching and storing: the fragment is then stored without being fetched again.
  waiting: ['requested', 'processing', 'failed', 'cancelled'],
  requested: ['downloading', 'waiting', 'failed', 'cancelled'],
  downloading: ['processing', 'waiting', 'failed', 'cancelled'],
  processing: ['done', 'waiting', 'failed', 'cancelled'],
  done: [],
  failed: [],
  cancelled: [],
};

/** Whether a task may change from one state to another. A failed attempt goes to `waiting` before the next. */
export function mayBecome(from: VideoTaskState, to: VideoTaskState): boolean {
  return NEXT[from].includes(to);
}

/** Whether the task can still be changed: the terminal was not asked to play yet. */
export function mayChangeTask(state: VideoTaskState): boolean {
  return state === 'new' || state === 'waiting';
}

/** Whether the state is final. */
export function isFinal(state: VideoTaskState): boolean {
  return NEXT[state].length === 0;
}

/**
 * Whether the caller may use the video service. Operators and dealers may by their role; users must have been granted
 * it (semantics, "People and rights").
 */
export function mayUseVideo(caller: Pick<User, 'role' | 'blocked' | 'services'> & Keyed): boolean {
  return !caller.blocked && hasScope(caller, 'video') && (caller.role !== 'user' || caller.services.includes('video'));
}

/** Whether the caller may see the vehicle's video. */
export function maySeeVideo(caller: Caller & Pick<User, 'services'>, vehicle: SeenVehicle): boolean {
  return mayUseVideo(caller) && maySeeVehicle(caller, vehicle);
}

/** The address for display and logs: without login and password before the host and in the query. */
export function withoutCredentials(address: string): string {
  return address
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${HIDDEN_CREDENTIALS}@`)
    .replace(CREDENTIAL_PARAMETER, `$1${HIDDEN_CREDENTIALS}`);
}

/**
 * A query parameter whose name marks its value as a credential, unless the value is a placeholder that is filled in for
 * each fragment.
 */
const CREDENTIAL_PARAMETER = /([?&][^=&]*(?:user|login|pass|pwd|token|secret|key|auth|sign)[^=&]*=)[^&{]+/gi;

/** Whether the address may contain a login and a password: that of a stream is a URL. */
export function isSecretAddress({ protocol }: Pick<VideoProfile, 'protocol'>): boolean {
  return protocol === 'stream';
}

/**
 * A definition as the registry publishes it: subscribers and the log get no address that may hold credentials. Services
 * that fetch from the address, and callers who may see it, read the profile from the registry.
 */
export function withoutSecrets<T extends Definition>(definition: T): T {
  return definition.kind === 'video-profile' && isSecretAddress(definition)
    ? { ...definition, address: HIDDEN_CREDENTIALS }
    : definition;
}

/** Replaces login and password in a displayed address. */
export const HIDDEN_CREDENTIALS = '***';

/** Channel of the hub on which each change of a task is published, as {@link VideoTaskNews}. */
export const VIDEO_TASK_CHANNEL = 'video-task';

export interface VideoTaskNews {
  vehicleId: VehicleId;
  profileId: VideoProfileId;
  task: VideoTask;
}

/** A task as REST and live API show it, without its creator. Callers add that where the reader may know it. */
export function videoTaskJson(task: VideoTask): Record<string, unknown> {
  const time = (timeMs: number | null) => (timeMs === null ? null : isoTime(timeMs));
  return {
    id: task.id,
    profileId: task.profileId,
    vehicleId: task.vehicleId,
    channel: task.channel,
    start: isoTime(task.startMs),
    end: isoTime(task.endMs),
    quality: task.quality,
    audio: task.audio,
    status: task.state,
    reason: task.reason,
    detail: task.detail,
    attempts: task.attempts,
    progress: { percent: task.progressPercent, bytes: task.progressBytes },
    createdAt: isoTime(task.createdAtMs),
    changedAt: isoTime(task.changedAtMs),
    expiresAt: isoTime(task.expiresAtMs),
    nextAttemptAt: time(task.nextAttemptAtMs),
    finishedAt: time(task.finishedAtMs),
    file:
      task.file === null
        ? null
        : {
            bytes: task.file.bytes,
            durationSeconds: task.file.durationMs / 1000,
            videoCodec: task.file.videoCodec,
            audioCodec: task.file.audioCodec,
            frames: task.file.frames,
            packetsLost: task.file.packetsLost,
          },
    fileDeletedAt: time(task.fileDeletedAtMs),
  };
}
