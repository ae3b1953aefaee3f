import type {
  VehicleId,
  VideoFailure,
  VideoProfile,
  VideoProfileId,
  VideoProtocol,
  VideoQuality,
  VideoTaskId,
} from '@outrider/domain';

/** Source of recordings: the part of a video profile that a driver needs. */
export interface VideoSource {
  profileId: VideoProfileId;
  vehicleId: VehicleId;
  protocol: VideoProtocol;
  /** `jt1078`: phone number, digits without leading zeros. `stream`: template of a URL. */
  address: string;
  /** IANA name of the time zone in which the terminal files its recordings. */
  timeZone: string;
}

/** The recording to fetch. */
export interface Fragment {
  source: VideoSource;
  taskId: VideoTaskId;
  channel: number;
  startMs: number;
  endMs: number;
  stream: VideoQuality;
  audio: boolean;
}

/** An interval that a terminal has recorded. */
export interface StoredRecording {
  channel: number;
  startMs: number;
  endMs: number;
  stream: VideoQuality;
  /** Null if the terminal does not report it. */
  bytes: number | null;
}

/** Reason why a driver fetched nothing. */
export type DriverFailure =
  | Exclude<VideoFailure, 'no-space' | 'interrupted' | 'expired' | 'profile-deleted'>
  /** The signal was aborted. */
  | 'aborted';

/** Outcome of an operation that depends on a peer. Failures are values, never thrown: a throw is a bug. */
export type DriverOutcome<T> = { ok: true; value: T } | { ok: false; reason: DriverFailure; detail: string };

export interface FetchProgress {
  bytes: number;
  /** Media time of the fragment that has been fetched. */
  mediaMs: number;
}

/** Facts about the fetched file. */
export interface Fetched {
  /** Size of the file. */
  bytes: number;
  durationMs: number;
  videoCodec: string;
  audioCodec: string | null;
  frames: number;
  packetsLost: number;
  packetsReordered: number;
}

export type FetchPhase = 'requested' | 'downloading' | 'processing';

export interface FetchOptions {
  /**
   * Path at which the driver creates the file; nothing exists there yet. After a successful fetch it is a playable MP4.
   * The caller removes it.
   */
  path: string;
  /** Aborts the fetch: the terminal is asked to stop, sockets are closed, and the outcome is `aborted`. */
  signal: AbortSignal;
  /**
   * `requested`: the terminal was asked to play. `downloading`: the first packet arrived. `processing`: everything was
   * received and the file is being finished. Called in this order, at most once each.
   */
  onPhase(phase: FetchPhase): void;
  /** Called as often as the driver likes. */
  onProgress(progress: FetchProgress): void;
  /** A larger file fails with `too-large`. */
  maxBytes: number;
}

/** Fetches recordings over one protocol. */
export interface VideoDriver {
  readonly protocol: VideoProtocol;
  /** Whether the terminal is connected. Always true if that is only known by trying. */
  online(source: VideoSource): Promise<boolean>;
  /**
   * Reports each address that connects or disconnects. These are hints, some of which may be lost.
   *
   * @returns unsubscribes the listener
   */
  onPresence(listener: (address: string, online: boolean) => void): () => void;
  /** Queries which recordings the terminal has. */
  recordings(
    source: VideoSource,
    channel: number,
    startMs: number,
    endMs: number,
    signal: AbortSignal,
  ): Promise<DriverOutcome<StoredRecording[]>>;
  /** Fetches one fragment into a file. */
  fetch(fragment: Fragment, options: FetchOptions): Promise<DriverOutcome<Fetched>>;
  close(): Promise<void>;
}

export function sourceOf({ id, vehicleId, protocol, address, timeZone }: VideoProfile): VideoSource {
  return { profileId: id, vehicleId, protocol, address, timeZone };
}
