import { hash } from 'node:crypto';

import { type GeofenceOwners, Problem } from '@outrider/access';
import { alsoHarsh, type Clock, type Directory, type User } from '@outrider/domain';
import { FEED_NAMES, type FeedItem, type FeedLog, type FeedName, FeedReading, type Pages } from '@outrider/feeds';
import { type ForwardedItem, ForwardingError, type Target } from '@outrider/forwarding';
import type { ForwardingDestinations, ForwardingGap, ForwardingProgress, LeasedDestination } from '@outrider/registry';
import type { ForwarderMetrics } from './metrics.ts';

export interface RunContext {
  log: FeedLog;
  pages: ReadonlyMap<FeedName, readonly Pages[]>;
  owners: GeofenceOwners;
  directory: Directory;
  destinations: Pick<ForwardingDestinations, 'isCurrent' | 'save'>;
  metrics: ForwarderMetrics;
  leaseMs: number;
  saveEveryMs: number;
  clock: Clock;
  /** Whether the destination is to be handed back for others that wait. */
  isToYield(sinceMs: number): boolean;
}

/** Maximum items per batch. */
const BATCH_ITEMS = 200;
/** Maximum time of one pass through the log: records that are not forwarded take time as well. */
const LOOK_THROUGH_MS = 1000;
const LOOK_EVERY_MS = 250;
/** Progress is saved this often while nothing is sent. */
const SAVE_IDLE_EVERY_MS = 15_000;
const CHECK_EVERY_MS = 1000;

/** Progress since the last save. */
type Unsaved = Pick<ForwardingProgress, 'positionsSent' | 'eventsSent' | 'refused' | 'lastRefusal' | 'gap'>;
const NOTHING: Unsaved = { positionsSent: 0, eventsSent: 0, refused: 0, lastRefusal: null, gap: null };

/**
 * Serves one destination while its lease is held. Reads the log from where it stopped, sends batch after batch, and
 * saves its progress once the receiving system has confirmed it.
 */
export class ForwardingRun {
  readonly #destination: LeasedDestination;
  readonly #context: RunContext;
  readonly #target: Target;
  readonly #readings = new Map<FeedName, FeedReading>();
  /** Cursors behind the items that were confirmed, or are not wanted. */
  readonly #cursors: Record<FeedName, string | null>;
  #reachedAtMs: number | null;
  #unsaved: Unsaved = NOTHING;
  #isSaved = true;
  #savedAtMs = -Infinity;
  #checkedAtMs: number;
  #hasConfirmed = false;
  /** Age of the oldest unprocessed record at the last save. */
  lagSeconds = 0;

  constructor(destination: LeasedDestination, target: Target, context: RunContext) {
    this.#destination = destination;
    this.#target = target;
    this.#context = context;
    this.#cursors = { positions: destination.positionsCursor, events: destination.eventsCursor };
    this.#reachedAtMs = destination.reachedAtMs;
    this.#checkedAtMs = context.clock.steadyMs();
  }

  /**
   * Resolves when the run has to end: the service stops, the destination was changed, or others wait.
   *
   * @throws {ForwardingError} when the receiving system rejects a batch: what was confirmed is saved
   * @throws {Error} when the log or the registry is unavailable
   */
  async run(signal: AbortSignal): Promise<void> {
    const startedAtMs = this.#context.clock.steadyMs();
    await this.#open();
    try {
      while (!signal.aborted && !this.#context.isToYield(startedAtMs)) {
        let count = 0;
        for (const feed of this.#readings.keys()) count += await this.#forwardNext(feed);
        if (!(await this.#keep())) return;
        if (count > 0 || this.#isBehind) continue;
        await this.#context.clock.pause(LOOK_EVERY_MS, signal);
      }
      await this.#save();
    } catch (error) {
      // Saves what was confirmed before the failure, so that it is not sent again.
      if (error instanceof ForwardingError && !this.#isSaved) await this.#save(false);
      throw error;
    }
  }

  /** Attempts that failed before; 0 once something was confirmed. */
  get failures(): number {
    return this.#hasConfirmed ? 0 : this.#destination.failures;
  }

  get #isBehind(): boolean {
    return [...this.#readings.values()].some((reading) => reading.isBehind);
  }

  async #open(): Promise<void> {
    const { filter } = this.#destination;
    for (const feed of FEED_NAMES) if (filter[feed]) this.#readings.set(feed, await this.#reading(feed));
  }

  async #reading(feed: FeedName): Promise<FeedReading> {
    const { log, owners, clock, pages } = this.#context;
    const context = { feed, log, owners, clock, pages: pages.get(feed) ?? [] };
    const cursor = this.#cursors[feed];
    if (cursor !== null) {
      const place = { text: cursor, parameter: 'cursor' };
      return this.#orResumed(
        () => FeedReading.from(context, place),
        (text) => {
          this.#cursors[feed] = text;
          return FeedReading.from(context, { ...place, text });
        },
      );
    }
    const { beginAtMs } = this.#destination;
    const reading = await FeedReading.begin(context, beginAtMs);
    const logBeginsAtMs = await reading.logBeginsAtMs();
    if (logBeginsAtMs !== null && logBeginsAtMs > beginAtMs) this.#noteGap(beginAtMs, logBeginsAtMs);
    this.#cursors[feed] = reading.cursor();
    this.#isSaved = false;
    return reading;
  }

  /** If the log no longer has the next record, resumes with what the log has, and notes the gap in the state. */
  async #orResumed<T>(work: () => Promise<T>, resume: (cursor: string) => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const resumption = error instanceof Problem ? error.resumption : null;
      if (resumption === null) throw error;
      this.#noteGap(this.#reachedAtMs ?? this.#destination.beginAtMs, Date.parse(resumption.from));
      return resume(resumption.cursor);
    }
  }

  #noteGap(fromMs: number, toMs: number): void {
    const gap: ForwardingGap = { fromMs: Math.min(fromMs, toMs), toMs, noticedAtMs: this.#context.clock.now() };
    this.#unsaved = { ...this.#unsaved, gap };
    this.#isSaved = false;
    this.#context.metrics.lost(this.#destination.kind);
  }

  /** @returns how many items were sent */
  async #forwardNext(feed: FeedName): Promise<number> {
    const reading = this.#readings.get(feed);
    if (reading === undefined) return 0;
    await reading.look();
    if (!reading.isBehind) return 0;
    const before = this.#cursors[feed];
    const asked = {
      maxItems: BATCH_ITEMS,
      byMs: this.#context.clock.steadyMs() + LOOK_THROUGH_MS,
      until: 'any',
    } as const;
    const taken = await this.#orResumed(
      () => reading.take(async () => this.#owner(), { ...asked, hasCursors: false }),
      // The reading now stands at the beginning of the log.
      async () => [],
    );
    const items = taken.flatMap(({ item }) => this.#wanted(item));
    const after = reading.cursor();
    if (items.length > 0) await this.#send(items, `${before} ${after}`);
    this.#cursors[feed] = after;
    this.#isSaved &&= after === before;
    return items.length;
  }

  async #send(items: readonly ForwardedItem[], range: string): Promise<void> {
    const { id, kind } = this.#destination;
    const { metrics } = this.#context;
    const { count, reason } = await this.#target.send({ id: hash('sha256', `${id} ${range}`).slice(0, 32), items });
    const positions = items.filter(({ fact }) => fact.type === 'position').length;
    const confirmed = items.length - count;
    const { positionsSent, eventsSent, refused, lastRefusal, gap } = this.#unsaved;
    this.#unsaved = {
      // Only protocols that carry nothing but positions refuse single items.
      positionsSent: positionsSent + Math.min(positions, confirmed),
      eventsSent: eventsSent + items.length - positions,
      refused: refused + count,
      lastRefusal: reason ?? lastRefusal,
      gap,
    };
    this.#hasConfirmed = true;
    metrics.forwarded(kind, 'position', Math.min(positions, confirmed));
    metrics.forwarded(kind, 'event', items.length - positions);
    metrics.refused(kind, count);
  }

  /** The owner with current rights. @throws {ForwardingError} when nothing may be forwarded for the owner */
  #owner(): User {
    const owner = this.#context.directory.users.get(this.#destination.ownerId);
    if (owner === undefined || owner.blocked) throw new ForwardingError('The account of its owner is blocked.');
    return owner;
  }

  #wanted(item: FeedItem): ForwardedItem[] {
    const { vehicleIds, groupIds, eventKinds } = this.#destination.filter;
    const { vehicleId, fact } = item;
    const vehicle = this.#context.directory.vehicles.get(vehicleId);
    if (vehicle === undefined) return [];
    if (fact.type === 'event' && eventKinds !== null && !alsoHarsh(eventKinds).includes(fact.event.kind)) return [];
    const isAll = vehicleIds === null && groupIds === null;
    const isNamed = vehicleIds?.includes(vehicleId) || vehicle.groupIds.some((id) => groupIds?.includes(id));
    if (!isAll && !isNamed) return [];
    return [{ vehicleId, vehicleName: vehicle.name, fact, json: () => ({ type: fact.type, ...item.json() }) }];
  }

  /** Saves progress now and then. @returns false when the run has to end */
  async #keep(): Promise<boolean> {
    const nowMs = this.#context.clock.steadyMs();
    const everyMs = this.#isSaved ? SAVE_IDLE_EVERY_MS : this.#context.saveEveryMs;
    if (nowMs - this.#savedAtMs >= everyMs) return this.#save();
    if (nowMs - this.#checkedAtMs < CHECK_EVERY_MS) return true;
    this.#checkedAtMs = nowMs;
    return this.#context.destinations.isCurrent(this.#destination);
  }

  /** @param isGood false: a batch was not confirmed */
  async #save(isGood = true): Promise<boolean> {
    const { destinations, leaseMs, clock } = this.#context;
    if (isGood) {
      const lags = await Promise.all([...this.#readings.values()].map((reading) => reading.lagSeconds()));
      this.lagSeconds = Math.max(0, ...lags);
      this.#reachedAtMs = clock.now() - Math.round(this.lagSeconds * 1000);
    }
    const progress: ForwardingProgress = {
      ...this.#unsaved,
      positionsCursor: this.#cursors.positions,
      eventsCursor: this.#cursors.events,
      reachedAtMs: this.#reachedAtMs,
      isSuccess: this.#hasConfirmed,
    };
    const isHeld = await destinations.save(this.#destination, progress, leaseMs);
    this.#unsaved = NOTHING;
    this.#isSaved = true;
    this.#savedAtMs = clock.steadyMs();
    return isHeld;
  }
}
