import type { Position, VehicleId } from '@outrider/domain';

/** Where a vehicle was last, by its newest good fix. */
export interface LatestPosition {
  vehicleId: VehicleId;
  position: Position;
  /** Unix milliseconds at which the gateway had it. */
  receivedAtMs: number;
}

/** A terminal that spoke to the gateway and has no vehicle profile. */
export interface UnknownTerminal {
  terminalId: string;
  protocol: string;
  address: string;
  firstSeenMs: number;
  lastSeenMs: number;
  attempts: number;
}

/** How a counter stands after a hit. */
export interface Count {
  hits: number;
  /** Unix milliseconds at which the window ends and the count falls to zero. */
  resetsAtMs: number;
}

export type Unsubscribe = () => Promise<void>;

/** The hub does not answer: what was asked may or may not have been done. */
export class HubAwayError extends Error {
  override name = 'HubAwayError';
}

/** What all services share and none must keep: latest positions, counters, messages. Lost with the hub, rebuilt by the road. */
export interface Hub {
  /** Takes the newest per vehicle in, and tells every listener. An older fix than the known one changes nothing. */
  updateLatest(entries: readonly LatestPosition[]): Promise<void>;
  latest(vehicleIds: readonly VehicleId[]): Promise<LatestPosition[]>;
  /** Entries as they are updated; a slow listener may miss intermediate ones. */
  onLatest(listener: (entries: readonly LatestPosition[]) => void): Promise<Unsubscribe>;

  /** Counts one hit on `key` in a window that begins with its first hit. */
  hit(key: string, windowMs: number, nowMs: number): Promise<Count>;
  /** Takes one hit back, where what was counted turned out not to count. */
  unhit(key: string): Promise<void>;
  /** Forgets the count of `key`. */
  resetCount(key: string): Promise<void>;
  /** Blocks `key` until a time; an earlier end than the present one changes nothing. */
  block(key: string, untilMs: number): Promise<void>;
  /** Unix milliseconds until which `key` is blocked, or null. */
  blockedUntil(key: string, nowMs: number): Promise<number | null>;

  noteUnknownTerminal(terminalId: string, protocol: string, address: string, nowMs: number): Promise<void>;
  /** Newest first; at most 1000 are kept. */
  unknownTerminals(): Promise<UnknownTerminal[]>;

  /** Tells everyone who listens to `channel` now, here and in other instances, the publisher included. Nothing is kept. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Hears what is published on `channel` from the moment this resolves. Messages of one publisher keep their order; some
   * may be lost where a connection breaks, so they are hints: what must not be missed is read again where it is stored.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe>;

  close(): Promise<void>;
}
