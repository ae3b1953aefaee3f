import { type Clock, SYSTEM_CLOCK, type TerminalId, type VehicleId, type VehicleStatus } from '@outrider/domain';
import {
  type ConnectionChange,
  type Count,
  deviceKey,
  type Hub,
  MAX_UNKNOWN_DEVICES,
  MAX_UNKNOWN_TERMINALS,
  type RefusedContact,
  type Sightings,
  type TerminalConnection,
  type UnknownDevice,
  type UnknownTerminal,
  type Unsubscribe,
} from './hub.ts';

/** Expired counters and blocks are removed when the maps have grown by this number of entries since the last time. */
const SWEEP_EVERY = 10_000;

/** The hub of a single process. Its data is lost when the process ends, and rebuilt from new data. */
export class MemoryHub implements Hub {
  readonly #clock: Clock;
  readonly #latest = new Map<VehicleId, VehicleStatus>();
  readonly #listeners = new Set<(statuses: readonly VehicleStatus[]) => void>();
  readonly #gateways = new Set<string>();
  readonly #connections = new Map<TerminalId, { gateway: string; connection: TerminalConnection }>();
  readonly #channels = new Map<string, Set<(message: string) => void>>();
  readonly #counts = new Map<string, Count>();
  readonly #leases = new Map<string, { holder: string; untilMs: number }>();
  readonly #blocks = new Map<string, number>();
  readonly #unknown = new Map<string, UnknownTerminal>();
  readonly #devices = new Map<string, UnknownDevice & Sightings>();
  #sweepAt = SWEEP_EVERY;

  /** @param clock of leases; other calls are given the time */
  constructor(clock: Clock = SYSTEM_CLOCK) {
    this.#clock = clock;
  }

  async updateLatest(statuses: readonly VehicleStatus[]): Promise<void> {
    const news = statuses.filter((status) => {
      const known = this.#latest.get(status.vehicleId);
      if (known && (known.asOfMs > status.asOfMs || isSame(known, status))) return false;
      this.#latest.set(status.vehicleId, status);
      return true;
    });
    if (news.length > 0) for (const listener of this.#listeners) listener(news);
  }

  async latest(vehicleIds: readonly VehicleId[]): Promise<VehicleStatus[]> {
    return vehicleIds.map((id) => this.#latest.get(id)).filter((entry) => entry !== undefined);
  }

  async forgetLatest(vehicleIds: readonly VehicleId[]): Promise<void> {
    for (const id of vehicleIds) this.#latest.delete(id);
  }

  async onLatest(listener: (statuses: readonly VehicleStatus[]) => void): Promise<Unsubscribe> {
    this.#listeners.add(listener);
    return async () => {
      this.#listeners.delete(listener);
    };
  }

  /** Entries of a gateway need no expiry: it runs in the process of this hub. */
  async noteConnections(gateway: string, changes: readonly ConnectionChange[]): Promise<boolean> {
    const isKnown = this.#gateways.has(gateway);
    this.#gateways.add(gateway);
    for (const { terminalId, connection } of changes)
      if (connection !== null) this.#connections.set(terminalId, { gateway, connection });
      else if (this.#connections.get(terminalId)?.gateway === gateway) this.#connections.delete(terminalId);
    return isKnown;
  }

  async connections(terminalIds: readonly TerminalId[]): Promise<ReadonlyMap<TerminalId, TerminalConnection>> {
    const found = new Map<TerminalId, TerminalConnection>();
    for (const id of terminalIds) {
      const noted = this.#connections.get(id);
      if (noted) found.set(id, noted.connection);
    }
    return found;
  }

  async hit(key: string, windowMs: number, nowMs: number): Promise<Count> {
    this.#sweep(nowMs);
    const known = this.#counts.get(key);
    if (known && known.resetsAtMs > nowMs) {
      known.hits += 1;
      return { ...known };
    }
    const count = { hits: 1, resetsAtMs: nowMs + windowMs };
    this.#counts.set(key, count);
    return { ...count };
  }

  async unhit(key: string): Promise<void> {
    const known = this.#counts.get(key);
    if (known && known.hits > 0) known.hits -= 1;
  }

  async resetCount(key: string): Promise<void> {
    this.#counts.delete(key);
  }

  async block(key: string, untilMs: number): Promise<void> {
    this.#blocks.set(key, Math.max(untilMs, this.#blocks.get(key) ?? 0));
  }

  async blockedUntil(key: string, nowMs: number): Promise<number | null> {
    const untilMs = this.#blocks.get(key);
    return untilMs !== undefined && untilMs > nowMs ? untilMs : null;
  }

  async holdLease(key: string, holder: string, keptMs: number): Promise<boolean> {
    const held = this.#leases.get(key);
    if (held !== undefined && held.holder !== holder && held.untilMs > this.#clock.steadyMs()) return false;
    this.#leases.set(key, { holder, untilMs: this.#clock.steadyMs() + keptMs });
    return true;
  }

  async releaseLease(key: string, holder: string): Promise<void> {
    if (this.#leases.get(key)?.holder === holder) this.#leases.delete(key);
  }

  async noteUnknownTerminal(
    terminalId: string,
    protocol: string,
    address: string,
    nowMs: number,
    contact?: RefusedContact,
  ): Promise<void> {
    const terminal = { terminalId, protocol, address, contact: contact ?? null };
    noteSighting(this.#unknown, terminalId, terminal, nowMs, MAX_UNKNOWN_TERMINALS);
  }

  async refusedTerminal(terminalId: string): Promise<UnknownTerminal | null> {
    return this.#unknown.get(terminalId) ?? null;
  }

  async unknownTerminals(): Promise<UnknownTerminal[]> {
    return [...this.#unknown.values()].reverse();
  }

  async noteUnknownDevice(device: UnknownDevice, nowMs: number): Promise<void> {
    noteSighting(this.#devices, deviceKey(device), device, nowMs, MAX_UNKNOWN_DEVICES);
  }

  async unknownDevices(): Promise<(UnknownDevice & Sightings)[]> {
    return [...this.#devices.values()].reverse();
  }

  async publish(channel: string, message: string): Promise<void> {
    for (const listener of this.#channels.get(channel) ?? []) listener(message);
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe> {
    // One entry per subscription, even where two have the same listener.
    const own = (message: string) => listener(message);
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    listeners.add(own);
    return async () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#channels.get(channel) === listeners) this.#channels.delete(channel);
    };
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#channels.clear();
  }

  #sweep(nowMs: number): void {
    if (this.#counts.size + this.#blocks.size < this.#sweepAt) return;
    for (const [key, count] of this.#counts) if (count.resetsAtMs <= nowMs) this.#counts.delete(key);
    for (const [key, untilMs] of this.#blocks) if (untilMs <= nowMs) this.#blocks.delete(key);
    this.#sweepAt = Math.max(SWEEP_EVERY, 2 * (this.#counts.size + this.#blocks.size));
  }
}

/** Compared as text where both are as of the same moment, which is rare. */
function isSame(one: VehicleStatus, other: VehicleStatus): boolean {
  return one.asOfMs === other.asOfMs && JSON.stringify(one) === JSON.stringify(other);
}

/** Keeps the newest `most`: the map is in the order of the last sighting. */
function noteSighting<T>(all: Map<string, T & Sightings>, key: string, seen: T, nowMs: number, most: number): void {
  const known = all.get(key);
  all.delete(key);
  all.set(key, {
    ...seen,
    firstSeenMs: known?.firstSeenMs ?? nowMs,
    lastSeenMs: nowMs,
    attempts: (known?.attempts ?? 0) + 1,
  });
  if (all.size <= most) return;
  for (const longestUnseen of all.keys()) {
    all.delete(longestUnseen);
    return;
  }
}
