import type { TerminalId, VehicleId, VehicleStatus } from '@outrider/domain';

/** The connection of a terminal to a gateway. */
export interface TerminalConnection {
  protocol: string;
  /** Address of the peer, as the gateway sees it. */
  address: string;
  /** Unix milliseconds at which the terminal identified itself. */
  sinceMs: number;
}

/** A terminal connected to a gateway, or, without a connection, disconnected from it. */
export interface ConnectionChange {
  terminalId: TerminalId;
  connection: TerminalConnection | null;
}

/** What a refused device sent. */
export interface RefusedContact {
  transport: 'tcp' | 'udp' | 'http';
  /** Label of the reason in the metrics. */
  reason: string;
  /** The reason in words. */
  detail: string;
  /** Size of its connection's data, datagram or request. */
  receivedBytes: number;
  /** The first bytes in hexadecimal. They may contain a password. */
  firstBytes: string;
}

/** How often something was refused, and when. */
export interface Sightings {
  firstSeenMs: number;
  lastSeenMs: number;
  attempts: number;
}

/**
 * A terminal that contacted the gateway and has no vehicle profile, or whose vehicle does not accept its connection.
 */
export interface UnknownTerminal extends Sightings {
  terminalId: string;
  protocol: string;
  address: string;
  /** The last one; null where it was not kept. */
  contact: RefusedContact | null;
}

/** A device that was refused before it identified itself. */
export interface UnknownDevice {
  /** Protocol of the port. */
  protocol: string;
  address: string;
  contact: RefusedContact;
  /** Protocols that match its bytes, with the terminal id if the bytes contain it. */
  guesses: readonly { protocol: string; terminalId: string | null }[];
}

/** State of a counter after a hit. */
export interface Count {
  hits: number;
  /** Unix milliseconds at which the window ends and the count falls to zero. */
  resetsAtMs: number;
}

export const MAX_UNKNOWN_TERMINALS = 1000;
export const MAX_UNKNOWN_DEVICES = 200;

/** Key under which an unknown device is stored. */
export function deviceKey({ protocol, address }: UnknownDevice): string {
  return `${protocol} ${address}`;
}

/** How long the connections of a gateway are kept after its last call. */
export const GATEWAY_KEPT_MS = 30_000;

export type Unsubscribe = () => Promise<void>;

/** The hub does not respond: the call may or may not have taken effect. */
export class HubAwayError extends Error {
  override name = 'HubAwayError';
}

/**
 * State that all services share and that may be lost: statuses of vehicles, counters, messages. The services rebuild
 * it.
 */
export interface Hub {
  /**
   * Stores the newest status per vehicle, and sends it to every listener. A status that is older than the known one, or
   * equal, changes nothing.
   */
  updateLatest(statuses: readonly VehicleStatus[]): Promise<void>;
  latest(vehicleIds: readonly VehicleId[]): Promise<VehicleStatus[]>;
  /** Removes the statuses of deleted vehicles. */
  forgetLatest(vehicleIds: readonly VehicleId[]): Promise<void>;
  /** Statuses as they are updated; a slow listener may miss intermediate ones. */
  onLatest(listener: (statuses: readonly VehicleStatus[]) => void): Promise<Unsubscribe>;

  /**
   * Stores which terminals are connected to a gateway. A call, even without changes, keeps the gateway's connections
   * for {@link GATEWAY_KEPT_MS}: those of a crashed gateway are removed after that.
   *
   * @returns false if the hub knew nothing of the gateway: then all of its connections must be given
   */
  noteConnections(gateway: string, changes: readonly ConnectionChange[]): Promise<boolean>;
  /** The connections of those terminals that are connected. */
  connections(terminalIds: readonly TerminalId[]): Promise<ReadonlyMap<TerminalId, TerminalConnection>>;

  /** Counts one hit on `key` in a window that begins with its first hit. */
  hit(key: string, windowMs: number, nowMs: number): Promise<Count>;
  /** Removes one hit that turned out not to count. */
  unhit(key: string): Promise<void>;
  /** Forgets the count of `key`. */
  resetCount(key: string): Promise<void>;
  /** Blocks `key` until a time; an earlier end than the present one changes nothing. */
  block(key: string, untilMs: number): Promise<void>;
  /** Unix milliseconds until which `key` is blocked, or null. */
  blockedUntil(key: string, nowMs: number): Promise<number | null>;

  /**
   * Acquires or renews the lease `key` for a time from now on. It may be lost like everything in the hub: anything that
   * two concurrent holders would break must be checked elsewhere as well.
   *
   * @returns false if another one holds it
   */
  holdLease(key: string, holder: string, keptMs: number): Promise<boolean>;
  /** Releases the lease if this holder has it. */
  releaseLease(key: string, holder: string): Promise<void>;

  noteUnknownTerminal(
    terminalId: string,
    protocol: string,
    address: string,
    nowMs: number,
    contact?: RefusedContact,
  ): Promise<void>;
  /** Why data under the id was last refused; null if it was not, or if that is no longer kept. */
  refusedTerminal(terminalId: string): Promise<UnknownTerminal | null>;
  /** Newest first; at most 1000 are kept. */
  unknownTerminals(): Promise<UnknownTerminal[]>;
  /** One device is kept of each address and protocol. */
  noteUnknownDevice(device: UnknownDevice, nowMs: number): Promise<void>;
  /** Newest first; at most 200 are kept. */
  unknownDevices(): Promise<(UnknownDevice & Sightings)[]>;

  /**
   * Sends a message to all current listeners of `channel`, in all instances, the publisher's included. Nothing is kept.
   */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Listens to `channel` from the moment this resolves. Messages of one publisher keep their order. Some may be lost
   * when a connection breaks, so they are only hints: important data must be read again from its store.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe>;

  close(): Promise<void>;
}
