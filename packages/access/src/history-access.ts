import {
  IMPORT_PROTOCOL,
  isoTime,
  type Position,
  type TelemetryPacket,
  type TerminalId,
  tenantOf,
  type User,
  type Vehicle,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { Job, Registry } from '@outrider/registry';
import type { HistoryRows, Warehouse } from '@outrider/warehouse';
import { limited } from './job-access.ts';
import { badField, Problem } from './problem.ts';
import { requireData } from './rights.ts';

export interface HistoryConfig {
  /** Calls per minute that import positions, for a dealer with all its accounts, or for an account without a dealer. */
  importsPerMinute: number;
}

export interface HistorySources {
  registry: Pick<Registry, 'audit' | 'historyLimits'>;
  hub: Pick<Hub, 'hit'>;
  historyArchive: Pick<Warehouse, 'countBefore'>;
  config: { history: HistoryConfig };
  /** Resolves when the packets are durable in the log. */
  appendTelemetry(packets: readonly TelemetryPacket[]): Promise<void>;
}

/** Result of an import of history. */
export interface TakenHistory {
  positions: number;
  /** Unix milliseconds of the oldest and of the newest fix; null without positions. */
  fromMs: number | null;
  toMs: number | null;
}

/** Counts of what an erasure of a vehicle's history would remove. */
export interface ErasableHistory extends HistoryRows {
  videos: number;
  notifications: number;
}

const WINDOW_MS = 60_000;
/** Limited, because a packet is a record of the log, whose size is bounded. */
const POSITIONS_PER_PACKET = 100;
/** Imported positions belong to no terminal, so their odometers are not compared with a terminal's. */
const NO_TERMINAL = IMPORT_PROTOCOL as string as TerminalId;

/** The history of one vehicle that the caller may change. */
export class HistoryAccess {
  readonly #caller: User;
  readonly #sources: HistorySources;
  readonly #vehicle: Vehicle;

  constructor(caller: User, sources: HistorySources, vehicle: Vehicle) {
    this.#caller = caller;
    this.#sources = sources;
    this.#vehicle = vehicle;
  }

  /**
   * Adds positions to the vehicle's archive. They do not affect the live state; if they are sent again, they are stored
   * only once.
   *
   * @throws {Problem} `too-many-requests` above the rate limit
   */
  async add(positions: readonly Position[], nowMs: number): Promise<TakenHistory> {
    if (positions.length === 0) return { positions: 0, fromMs: null, toMs: null };
    await this.#count(nowMs);
    const ordered = positions.toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
    const packets: TelemetryPacket[] = [];
    for (let from = 0; from < ordered.length; from += POSITIONS_PER_PACKET) {
      const part = ordered.slice(from, from + POSITIONS_PER_PACKET);
      packets.push({
        vehicleId: this.#vehicle.id,
        terminalId: NO_TERMINAL,
        protocol: IMPORT_PROTOCOL,
        // As if received then: this time decides whether a vehicle is silent, and an import must not end its silence.
        receivedAtMs: part.at(-1)?.fixTimeMs ?? nowMs,
        positions: part,
      });
    }
    const taken = {
      positions: ordered.length,
      fromMs: ordered[0]?.fixTimeMs ?? null,
      toMs: ordered.at(-1)?.fixTimeMs ?? null,
    };
    await this.#sources.appendTelemetry(packets);
    await this.#sources.registry.audit.noteImport(this.#vehicle, {
      positions: taken.positions,
      from: isoTime(taken.fromMs ?? 0),
      to: isoTime(taken.toMs ?? 0),
    });
    return taken;
  }

  /**
   * Counts what {@link erase} would remove.
   *
   * @throws {Problem} when the time is not past, and `vehicle-suspended` when the caller may not see the vehicle's data
   *   now
   */
  async erasable(beforeMs: number, nowMs: number): Promise<ErasableHistory> {
    requireData(this.#caller, this.#vehicle);
    requirePast(beforeMs, nowMs);
    const { registry, historyArchive } = this.#sources;
    const limit = { vehicleId: this.#vehicle.id, beforeMs };
    return { ...(await historyArchive.countBefore([limit])), ...(await registry.historyLimits.counts(limit)) };
  }

  /**
   * Starts the erasure of the vehicle's history before a time. From now on, data of that time is no longer stored.
   *
   * @throws {Problem} as {@link erasable}
   */
  async erase(beforeMs: number, nowMs: number): Promise<Job> {
    requireData(this.#caller, this.#vehicle);
    requirePast(beforeMs, nowMs);
    const { id, name, dealerId } = this.#vehicle;
    return limited(
      this.#sources.registry.historyLimits.request({ vehicleId: id, beforeMs }, this.#caller.id, {
        action: 'history-erased',
        subject: { kind: 'vehicle', id, name },
        after: { before: isoTime(beforeMs) },
        dealerIds: dealerId === null ? [] : [dealerId],
        ownerIds: [],
      }),
    );
  }

  async #count(nowMs: number): Promise<void> {
    const { hub, config } = this.#sources;
    const { hits, resetsAtMs } = await hub.hit(`history:${tenantOf(this.#caller)}`, WINDOW_MS, nowMs);
    const most = config.history.importsPerMinute;
    if (hits <= most) return;
    const seconds = Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000));
    throw new Problem('too-many-requests', `At most ${most} calls per minute may import history.`, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

function requirePast(beforeMs: number, nowMs: number): void {
  if (beforeMs > nowMs) throw badField('/before', 'It must be in the past.');
}
