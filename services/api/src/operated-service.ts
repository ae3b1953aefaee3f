import type { Clock, Timer } from '@outrider/domain';
import {
  type DeadLetter,
  type DeadLetterFacts,
  deadLetterFactsOf,
  findDeadLetter,
  LOG_TOPICS,
  type Log,
} from '@outrider/log';
import type { Registry } from '@outrider/registry';
import { type Logger, type MetricsAccess, type Readiness, type ReadyCheck, readiness } from '@outrider/runtime';
import type { ArchiveGap, Warehouse } from '@outrider/warehouse';
import type { MapFile } from './maps/maps.ts';
import { ServiceHistory, STEP_MS } from './service-history.ts';

/** Resources whose use has a limit. */
export const USES = ['terminals', 'liveClients', 'logBytes', 'videoBytes', 'reportBytes'] as const;
export type UseName = (typeof USES)[number];
/** Limits by resource name; absent: not known to this process. */
export type ServiceLimits = Readonly<Partial<Record<UseName, number>>>;

export interface OperatedServiceParts {
  checks: Readonly<Record<string, ReadyCheck>>;
  metricsAccess: Pick<MetricsAccess, 'text'>;
  registry: Pick<Registry, 'reportFiles' | 'storedVideos'>;
  /** Absent: no dead letters are shown. */
  log?: Pick<Log, 'endOffsets' | 'read'>;
  /** Absent: no gaps of the archive are shown. */
  archiveGaps?: Pick<Warehouse, 'gaps' | 'updateGap'>;
  limits: ServiceLimits;
  maps: () => Promise<MapFile[]>;
  logger: Logger;
  clock: Clock;
}

/** State of the service for its operators. */
export class OperatedService {
  readonly #parts: OperatedServiceParts;
  readonly #history = new ServiceHistory();
  readonly #timer: Timer;
  readonly #startedAtMs: number;

  constructor(parts: OperatedServiceParts) {
    this.#parts = parts;
    this.#startedAtMs = parts.clock.now();
    this.#timer = parts.clock.every(STEP_MS, () => void this.#sample());
    this.#timer.unref();
  }

  close(): void {
    this.#timer.cancel();
  }

  get startedAtMs(): number {
    return this.#startedAtMs;
  }

  readiness(): Promise<Readiness> {
    return readiness(this.#parts.checks, this.#parts.logger);
  }

  /** Samples of the last hour, at least one. */
  async history(): Promise<ServiceHistory> {
    if (this.#history.isEmpty) await this.#sample();
    return this.#history;
  }

  /** Current use and limit of each resource; null: not known to this process. */
  async uses(): Promise<{ name: UseName; used: number | null; limit: number | null }[]> {
    const { registry, limits } = this.#parts;
    const history = await this.history();
    const used: Record<UseName, number | null> = {
      terminals: history.latest('outrider_terminal_connections'),
      liveClients: history.latest('outrider_live_clients'),
      logBytes: history.latest('outrider_log_bytes'),
      videoBytes: (await registry.storedVideos.usage()).bytes,
      reportBytes: await registry.reportFiles.usage(),
    };
    return USES.map((name) => ({ name, used: used[name], limit: limits[name] ?? null }));
  }

  /** Gaps of the archive, the newest first. */
  async archiveGaps(): Promise<ArchiveGap[]> {
    const gaps = (await this.#parts.archiveGaps?.gaps()) ?? [];
    return gaps.toSorted((one, other) => other.noticedAtMs - one.noticedAtMs || (one.id < other.id ? -1 : 1));
  }

  /** Marks a gap as accepted, so that it causes no more warnings. Returns null if the gap does not exist. */
  async acceptArchiveGap(id: string): Promise<ArchiveGap | null> {
    const gap = (await this.archiveGaps()).find((each) => each.id === id);
    if (gap === undefined) return null;
    const accepted = { ...gap, isAccepted: true };
    if (!gap.isAccepted) await this.#parts.archiveGaps?.updateGap(accepted);
    return accepted;
  }

  /** Dead letters of all topics, the newest first. */
  async deadLetters(): Promise<DeadLetterFacts[]> {
    const { log } = this.#parts;
    if (log === undefined) return [];
    const all: DeadLetterFacts[] = [];
    for (const { name } of LOG_TOPICS) all.push(...(await deadLetterFactsOf(log, name)));
    return all.sort((a, b) => b.diedAtMs - a.diedAtMs);
  }

  async deadLetter(id: string): Promise<DeadLetter | null> {
    const { log } = this.#parts;
    return log === undefined ? null : findDeadLetter(log, id);
  }

  maps(): Promise<MapFile[]> {
    return this.#parts.maps();
  }

  async #sample(): Promise<void> {
    try {
      const text = await this.#parts.metricsAccess.text();
      this.#history.add(text, this.#parts.clock.now(), process.memoryUsage.rss());
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'cannot read the metrics');
    }
  }
}
