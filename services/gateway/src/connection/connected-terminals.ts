import { randomUUID } from 'node:crypto';
import type { Clock, Position, ProtocolName, TerminalId, Timer } from '@outrider/domain';
import {
  type ConnectionChange,
  GATEWAY_KEPT_MS,
  type Hub,
  type TerminalConnection,
  type TerminalLinkFacts,
  type Unsubscribe,
} from '@outrider/hub';
import type { Connection } from './connection.ts';

/** Connects and disconnects within this time are published together: after an outage all terminals connect at once. */
const GATHER_MS = 200;
/** Maximum of changes per call. */
const CHANGES_AT_ONCE = 1000;

/** Maximum of connections per terminal: it may reconnect before its old connections are known to be dead. */
const MAX_PER_TERMINAL = 4;
/** A connection that received nothing for this long loses its commands to a newer one. */
const ESTABLISHED_MS = 30_000;
/** If an older connection receives data this long after a newer one was made, both are in use. */
const OVERLAP_MS = 5000;
/** A terminal seen at two addresses is contested until one of them has been silent for this long. */
const CONTESTED_MS = 300_000;

/** Channel on which gateways publish their new connections. */
const PLACES = 'terminal-places';

/** A message on that channel. */
interface PlacesMessage {
  gateway: string;
  places: readonly (readonly [TerminalId, address: string])[];
}

/** The newest connection of a terminal to another gateway. */
interface Elsewhere {
  address: string;
  sinceMs: number;
}

/** A terminal counts as having left an address after this time without requests from it. */
const REQUEST_OVERLAP_MS = 60_000;
const MAX_REQUESTING = 50_000;

/** The last two addresses from which a terminal sent requests. */
interface RequestPlaces {
  address: string;
  earlier: string | null;
  earlierAtMs: number;
  contestedUntilMs: number;
}

/** Adds an alarm to the newest position of a packet, because two devices use the terminal's id. */
export function withConflict(positions: readonly Position[]): Position[] {
  let newest = 0;
  for (const [nth, { fixTimeMs }] of positions.entries())
    if (fixTimeMs > (positions[newest]?.fixTimeMs ?? 0)) newest = nth;
  return positions.map((position, nth) =>
    nth === newest ? { ...position, alarms: [...position.alarms, 'terminal-conflict'] } : position,
  );
}

/** The part of a connection that decides whether the terminal counts as connected. */
export type TerminalLink = Pick<
  Connection,
  'address' | 'takesCommands' | 'isAuthenticated' | 'lastReceivedMs' | 'supersede' | 'hasRivals' | 'command'
> & {
  /** False for datagrams, whose address a terminal may change at any time. */
  isLasting?: boolean;
};

type PlacesHub = Pick<Hub, 'noteConnections' | 'publish' | 'subscribe'>;

interface Held {
  connection: TerminalLink;
  noted: TerminalConnection;
}

/**
 * The terminals connected to this gateway, which are published to the hub. Anyone who knows the id of a terminal
 * without a secret can connect as it. So a newer connection does not get the commands of an older one that is in use.
 * It gets them once the older one is closed or silent, or at once if only the newer one is authenticated or both have
 * the same address.
 */
export class ConnectedTerminals {
  readonly #hub: PlacesHub;
  readonly #onError: (error: unknown) => void;
  /** Identifies this run: entries of former runs are discarded. */
  readonly #gateway = randomUUID();
  /** Connections by terminal, oldest first. */
  readonly #connected = new Map<TerminalId, Held[]>();
  readonly #clock: Clock;
  /** Terminals without connections, the least recent request first. */
  readonly #requesting = new Map<TerminalId, RequestPlaces>();
  /** Connections to other gateways of terminals that are connected here as well. */
  readonly #elsewhere = new Map<TerminalId, Elsewhere>();
  #leave: Unsubscribe = async () => {};
  #came = new Set<TerminalId>();
  #changed = new Set<TerminalId>();
  #noting: Promise<void> = Promise.resolve();
  #gathering: Timer | null = null;
  #renewing: Timer | null = null;

  constructor(hub: PlacesHub, onError: (error: unknown) => void, clock: Clock) {
    this.#hub = hub;
    this.#clock = clock;
    this.#onError = onError;
  }

  async start(): Promise<void> {
    this.#leave = await this.#hub.subscribe(PLACES, (text) => this.#onPlaces(text));
    this.#renewing = this.#clock.every(GATEWAY_KEPT_MS / 3, () => this.#note());
    this.#renewing.unref();
  }

  /** The connection by which a terminal gets commands. */
  of(terminalId: TerminalId): TerminalLink | undefined {
    return this.#inUse(terminalId)?.connection;
  }

  /** Facts about the connection that gets the terminal's commands; null if it takes no commands. */
  link(terminalId: TerminalId): TerminalLinkFacts | null {
    const inUse = this.#inUse(terminalId);
    if (inUse === undefined || !inUse.connection.takesCommands) return null;
    const { isAuthenticated, lastReceivedMs } = inUse.connection;
    return {
      sinceMs: inUse.noted.sinceMs,
      isProven: isAuthenticated,
      isInUse: lastReceivedMs > this.#clock.now() - ESTABLISHED_MS,
    };
  }

  /** Terminals that take commands. */
  *commandable(): Generator<TerminalId> {
    for (const [terminalId, held] of this.#connected)
      if (held.some(({ connection }) => connection.takesCommands)) yield terminalId;
  }

  came(terminalId: TerminalId, connection: TerminalLink, protocol: ProtocolName, nowMs: number): void {
    const held = this.#connected.get(terminalId) ?? [];
    this.#connected.set(terminalId, held);
    held.push({ connection, noted: { protocol, address: connection.address, sinceMs: nowMs } });
    this.#noteRivals(terminalId, held);
    this.#came.add(terminalId);
    this.#noteSoon(terminalId);
    if (held.length <= MAX_PER_TERMINAL) return;
    const [silent] = held.toSorted((a, b) => a.connection.lastReceivedMs - b.connection.lastReceivedMs);
    silent?.connection.supersede();
  }

  /** @returns whether this was the terminal's last connection */
  went(terminalId: TerminalId, connection: TerminalLink): boolean {
    const held = this.#connected.get(terminalId) ?? [];
    const left = held.filter((each) => each.connection !== connection);
    if (left.length === held.length) return false;
    if (left.length > 0) this.#connected.set(terminalId, left);
    else {
      this.#connected.delete(terminalId);
      this.#elsewhere.delete(terminalId);
    }
    this.#noteRivals(terminalId, left);
    this.#noteSoon(terminalId);
    return left.length === 0;
  }

  /** Whether the terminal is in use at two addresses. After a mere reconnect the old connection is silent. */
  isContested(terminalId: TerminalId): boolean {
    const held = this.#connected.get(terminalId) ?? [];
    const sinceMs = this.#clock.now() - CONTESTED_MS;
    const elsewhere = this.#elsewhere.get(terminalId);
    // The other gateway knows only the newer connection; this one knows that the older one is in use.
    const isElsewhere = held.some(
      ({ connection, noted }) =>
        elsewhere !== undefined &&
        elsewhere.address !== noted.address &&
        noted.sinceMs < elsewhere.sinceMs &&
        elsewhere.sinceMs > sinceMs &&
        connection.lastReceivedMs > elsewhere.sinceMs + OVERLAP_MS,
    );
    if (isElsewhere) return true;
    return held.some((older, nth) =>
      held
        .slice(nth + 1)
        .some(
          (newer) =>
            older.noted.address !== newer.noted.address &&
            older.connection.lastReceivedMs > newer.noted.sinceMs + OVERLAP_MS &&
            Math.min(older.connection.lastReceivedMs, newer.connection.lastReceivedMs) > sinceMs,
        ),
    );
  }

  /**
   * Records a request of a terminal without a lasting connection. A phone that changes networks moves from one address
   * to another. Requests from the first address soon after mean that two devices use the id.
   *
   * @returns whether the id is in use at two addresses
   */
  noteRequest(terminalId: TerminalId, address: string): boolean {
    const nowMs = this.#clock.now();
    const before = this.#requesting.get(terminalId);
    const hasMoved = before !== undefined && before.address !== address;
    const isBack = hasMoved && before.earlier === address && nowMs - before.earlierAtMs < REQUEST_OVERLAP_MS;
    const isElsewhere = (this.#connected.get(terminalId) ?? []).some(
      ({ connection, noted }) =>
        noted.address !== address &&
        connection.isLasting !== false &&
        connection.lastReceivedMs > nowMs - REQUEST_OVERLAP_MS,
    );
    const places: RequestPlaces = {
      address,
      earlier: hasMoved ? before.address : (before?.earlier ?? null),
      earlierAtMs: hasMoved ? nowMs : (before?.earlierAtMs ?? 0),
      contestedUntilMs: isBack || isElsewhere ? nowMs + CONTESTED_MS : (before?.contestedUntilMs ?? 0),
    };
    this.#requesting.delete(terminalId);
    this.#requesting.set(terminalId, places);
    if (this.#requesting.size > MAX_REQUESTING)
      for (const oldest of this.#requesting.keys()) {
        this.#requesting.delete(oldest);
        break;
      }
    return places.contestedUntilMs > nowMs;
  }

  #inUse(terminalId: TerminalId): Held | undefined {
    const held = this.#connected.get(terminalId) ?? [];
    return held.reduce<Held | undefined>((inUse, newer) => {
      if (inUse === undefined) return newer;
      const [one, other] = [inUse.connection, newer.connection];
      if (one.isAuthenticated !== other.isAuthenticated) return one.isAuthenticated ? inUse : newer;
      const isFromSamePlace = inUse.noted.address === newer.noted.address;
      const isEstablished = one.lastReceivedMs > this.#clock.now() - ESTABLISHED_MS;
      return one.isAuthenticated || isFromSamePlace || !isEstablished ? newer : inUse;
    }, undefined);
  }

  /** Marks terminals with several connections. All others need no check for each packet. */
  #noteRivals(terminalId: TerminalId, held: readonly Held[]): void {
    const hasRivals = held.length > 1 || this.#elsewhere.has(terminalId);
    for (const { connection } of held) connection.hasRivals = hasRivals;
  }

  /** Removes all terminals. */
  async close(): Promise<void> {
    this.#renewing?.cancel();
    for (const terminalId of this.#connected.keys()) this.#changed.add(terminalId);
    this.#connected.clear();
    this.#elsewhere.clear();
    await this.#leave();
    await this.#note();
  }

  /** Publishes the addresses of new connections to other gateways, which may have the same terminal. */
  async #publishPositions(changes: readonly ConnectionChange[]): Promise<void> {
    const places: [TerminalId, string][] = [];
    for (const { terminalId } of changes) {
      if (!this.#came.delete(terminalId)) continue;
      const newest = this.#connected.get(terminalId)?.at(-1);
      if (newest !== undefined) places.push([terminalId, newest.noted.address]);
    }
    if (places.length === 0) return;
    await this.#hub.publish(PLACES, JSON.stringify({ gateway: this.#gateway, places } satisfies PlacesMessage));
  }

  #onPlaces(text: string): void {
    const { gateway, places } = JSON.parse(text) as PlacesMessage;
    if (gateway === this.#gateway) return;
    for (const [terminalId, address] of places) {
      const held = this.#connected.get(terminalId);
      if (held === undefined) continue;
      this.#elsewhere.set(terminalId, { address, sinceMs: this.#clock.now() });
      this.#noteRivals(terminalId, held);
    }
  }

  #noteSoon(terminalId: TerminalId): void {
    this.#changed.add(terminalId);
    this.#gathering ??= this.#clock.after(GATHER_MS, () => this.#note());
  }

  /** Serialises the calls, so that none overtakes an earlier one. */
  #note(): Promise<void> {
    this.#gathering?.cancel();
    this.#gathering = null;
    this.#noting = this.#noting.then(() => this.#noteChanged()).catch(this.#onError);
    return this.#noting;
  }

  async #noteChanged(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed = new Set();
    try {
      for (let from = 0; from === 0 || from < changed.length; from += CHANGES_AT_ONCE) {
        const changes = changed.slice(from, from + CHANGES_AT_ONCE).map((terminalId): ConnectionChange => {
          return { terminalId, connection: this.#inUse(terminalId)?.noted ?? null };
        });
        // A hub that lost its data gets all terminals again.
        const isKnown = await this.#hub.noteConnections(this.#gateway, changes);
        if (!isKnown) for (const terminalId of this.#connected.keys()) this.#noteSoon(terminalId);
        await this.#publishPositions(changes);
      }
    } catch (error) {
      for (const terminalId of changed) this.#changed.add(terminalId);
      throw error;
    }
  }
}
