import type { UserId, VehicleId, VideoProfileId, VideoTaskId } from '../ids.ts';
import { isoTime } from '../json.ts';
import { type Caller, maySeeVehicle, type SeenVehicle } from '../rights.ts';
import { hasScope, type Keyed } from './api-key.ts';
import type { Definition } from './definitions.ts';
import type { User } from './user.ts';

/** How recordings are fetched: JT/T 808 with JT/T 1078, or a URL that plays them (RTSP, HTTP). */
export const VIDEO_PROTOCOLS = ['jt1078', 'stream'] as const;
export type VideoProtocol = (typeof VIDEO_PROTOCOLS)[number];

/** Where a camera looks. */
export const CAMERA_DIRECTIONS = ['front', 'rear', 'left', 'right', 'cabin', 'driver', 'cargo', 'other'] as const;
export type CameraDirection = (typeof CAMERA_DIRECTIONS)[number];

/** Terminals record each channel twice: as good as they can, and small. */
export const VIDEO_QUALITIES = ['main', 'sub'] as const;
export type VideoQuality = (typeof VIDEO_QUALITIES)[number];

/** One camera of a terminal. */
export interface VideoChannel {
  /** As the terminal counts them, from 1. */
  number: number;
  name: string;
  direction: CameraDirection;
}

/** The video terminal of a vehicle: how it is reached and what may be asked of it. */
export interface VideoProfile {
  kind: 'video-profile';
  id: VideoProfileId;
  version: number;
  /** A vehicle has one profile at most. */
  vehicleId: VehicleId;
  name: string;
  protocol: VideoProtocol;
  /**
   * `jt1078`: phone number of the terminal, digits without leading zeros. `stream`: template of a URL; only the
   * registry has it, elsewhere it is hidden (see {@link withoutSecrets}).
   */
  address: string;
  channels: readonly VideoChannel[];
  /** What a task gets that says nothing of it. */
  quality: VideoQuality;
  audio: boolean;
  maxFragmentSeconds: number;
  /** Fragments that are fetched from the terminal at a time. */
  maxParallelDownloads: number;
  /** IANA name: the clock by which the terminal files its recordings. */
  timeZone: string;
}

/**
 * `new`: asked for. `waiting`: the terminal is off-line, or the next attempt is not due. `requested`: the terminal was
 * asked to play. `downloading`: frames come in. `processing`: the file is being finished and stored.
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

/** Why there is no video, or none yet. */
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

/** What a stored video file is. */
export interface VideoFile {
  bytes: number;
  /** Of the file's bytes, in hexadecimal. */
  sha256: string;
  durationMs: number;
  videoCodec: string;
  audioCodec: string | null;
  frames: number;
  packetsLost: number;
}

/** A wish for a fragment of video, and how far it is. */
export interface VideoTask {
  id: VideoTaskId;
  profileId: VideoProfileId;
  vehicleId: VehicleId;
  /** Null: the account is gone. */
  createdBy: UserId | null;
  channel: number;
  startMs: number;
  endMs: number;
  quality: VideoQuality;
  audio: boolean;
  state: VideoTaskState;
  /** What the last attempt met; why it failed where it did. Null where nothing was met. */
  reason: VideoFailure | null;
  detail: string | null;
  /** Begun up to now. */
  attempts: number;
  progressPercent: number;
  progressBytes: number;
  createdAtMs: number;
  changedAtMs: number;
  /** Until when it is tried. */
  expiresAtMs: number;
  /** When it is tried again; null where nothing is waited for but the terminal, or nothing at all. */
  nextAttemptAtMs: number | null;
  finishedAtMs: number | null;
  /** Null until it is done, and again when it was deleted for its age or to free space. */
  file: VideoFile | null;
  fileDeletedAtMs: number | null;
}

/** One step in the life of a task. */
export interface VideoTaskTransition {
  state: VideoTaskState;
  atMs: number;
  reason: VideoFailure | null;
  detail: string | null;
}

const NEXT: Readonly<Record<VideoTaskState, readonly VideoTaskState[]>> = {
  new: ['waiting', 'requested', 'failed', 'cancelled'],
  // What was fetched and not stored when a worker died is not fetched again.
  waiting: ['requested', 'processing', 'failed', 'cancelled'],
  requested: ['downloading', 'waiting', 'failed', 'cancelled'],
  downloading: ['processing', 'waiting', 'failed', 'cancelled'],
  processing: ['done', 'waiting', 'failed', 'cancelled'],
  done: [],
  failed: [],
  cancelled: [],
};

/** May a task go from one state to another? What failed on the way waits before it is tried again. */
export function mayBecome(from: VideoTaskState, to: VideoTaskState): boolean {
  return NEXT[from].includes(to);
}

/** The terminal was not asked to play yet: what the task asks for can still be changed. */
export function mayChangeTask(state: VideoTaskState): boolean {
  return state === 'new' || state === 'waiting';
}

/** Nothing more will become of a task in this state. */
export function isFinal(state: VideoTaskState): boolean {
  return NEXT[state].length === 0;
}

/**
 * The service of video belongs to operators and dealers by their role; users were granted it (semantics, "People and
 * rights").
 */
export function mayUseVideo(caller: Pick<User, 'role' | 'blocked' | 'services'> & Keyed): boolean {
  return !caller.blocked && hasScope(caller, 'video') && (caller.role !== 'user' || caller.services.includes('video'));
}

/** May the caller see the vehicle's video? */
export function maySeeVideo(caller: Caller & Pick<User, 'services'>, vehicle: SeenVehicle): boolean {
  return mayUseVideo(caller) && maySeeVehicle(caller, vehicle);
}

/** The address as it may be shown and noted: login and password are left out, in front of the host and in the query. */
export function withoutCredentials(address: string): string {
  return address
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${HIDDEN_CREDENTIALS}@`)
    .replace(CREDENTIAL_PARAMETER, `$1${HIDDEN_CREDENTIALS}`);
}

/**
 * A parameter of a query whose name says that its value is a credential; a value that is filled in for each fragment is
 * none.
 */
const CREDENTIAL_PARAMETER = /([?&][^=&]*(?:user|login|pass|pwd|token|secret|key|auth|sign)[^=&]*=)[^&{]+/gi;

/** Whether the address may hold a login and a password: that of a stream is a URL. */
export function isSecretAddress({ protocol }: Pick<VideoProfile, 'protocol'>): boolean {
  return protocol === 'stream';
}

/**
 * A definition as it leaves the registry: followers and the log get no address that may hold credentials. Who fetches
 * from it, or may see it, reads the profile in the registry.
 */
export function withoutSecrets<T extends Definition>(definition: T): T {
  return definition.kind === 'video-profile' && isSecretAddress(definition)
    ? { ...definition, address: HIDDEN_CREDENTIALS }
    : definition;
}

/** What stands in an address for the login and password that it has. */
export const HIDDEN_CREDENTIALS = '***';

/** Channel of the hub on which each change of a task is published, as {@link VideoTaskNews}. */
export const VIDEO_TASK_CHANNEL = 'video-task';

/** A message of {@link VIDEO_TASK_CHANNEL}. */
export interface VideoTaskNews {
  vehicleId: VehicleId;
  profileId: VideoProfileId;
  task: VideoTask;
}

/** A task as REST and live API show it; without its creator, which the caller adds where the reader may know it. */
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
