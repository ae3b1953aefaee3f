import type {
  VehicleId,
  VideoFailure,
  VideoProfile,
  VideoProfileId,
  VideoProtocol,
  VideoQuality,
  VideoTaskId,
} from '@outrider/domain';

/** Where recordings come from: what of a profile a driver needs. */
export interface VideoSource {
  profileId: VideoProfileId;
  vehicleId: VehicleId;
  protocol: VideoProtocol;
  /** `jt1078`: phone number, digits without leading zeros. `stream`: template of a URL. */
  address: string;
  /** IANA name: the clock by which the terminal files its recordings. */
  timeZone: string;
}

/** What is to be fetched. */
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
  /** Null where the terminal does not say. */
  bytes: number | null;
}

/** Why a driver brought nothing. */
export type DriverFailure =
  | Exclude<VideoFailure, 'no-space' | 'interrupted' | 'expired' | 'profile-deleted'>
  /** The signal said so. */
  | 'aborted';

/** How something ended that depends on a peer: a value, never thrown. A throw is a bug. */
export type DriverOutcome<T> = { ok: true; value: T } | { ok: false; reason: DriverFailure; detail: string };

export interface FetchProgress {
  bytes: number;
  /** Of the fragment, up to now. */
  mediaMs: number;
}

/** What the file holds that was fetched. */
export interface Fetched {
  /** Of the file. */
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
   * A file that does not exist: a finished, playable MP4 when the fetch succeeded. Made by the driver, removed by the
   * caller.
   */
  path: string;
  /** Ends it: the terminal is asked to stop, sockets are closed, and the outcome is `aborted`. */
  signal: AbortSignal;
  /**
   * `requested`: the terminal was asked to play. `downloading`: the first packet came. `processing`: everything is
   * in and the file is being finished. In this order, each once at most.
   */
  onPhase(phase: FetchPhase): void;
  /** As often as it likes. */
  onProgress(progress: FetchProgress): void;
  /** A larger file is `too-large`. */
  maxBytes: number;
}

/** A way to fetch recordings. */
export interface VideoDriver {
  readonly protocol: VideoProtocol;
  /** Is the terminal there now? Always true where nobody can know without trying. */
  online(source: VideoSource): Promise<boolean>;
  /**
   * Receives of each address that connects or leaves: hints, some of which may be lost.
   *
   * @returns call it to receive no more
   */
  onPresence(listener: (address: string, online: boolean) => void): () => void;
  /** Asks what is recorded. */
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
