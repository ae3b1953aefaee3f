import type { Log, Topic } from '@outrider/log';

/**
 * Events of a partition that a client may have missed and is not sent: its cursor points to records that the log does
 * not have.
 */
export interface CursorGap {
  partition: number;
  /** Offset of the client's cursor. */
  from: number;
  /** Offset at which the client resumes. */
  to: number;
}

/** Remembered identities of other logs: a thousand clients with cursors of the same log cost one query. */
const MAX_FOREIGN = 100;

/** Finds where the cursors of clients resume in the present log. */
export class CursorPlaces {
  readonly #log: Pick<Log, 'locate'>;
  readonly #topic: Topic<unknown>;
  #identity = '';
  readonly #foreign = new Set<string>();

  constructor(log: Pick<Log, 'locate'>, topic: Topic<unknown>) {
    this.#log = log;
    this.#topic = topic;
  }

  /** Called once, before anything else. */
  async open(): Promise<void> {
    this.#identity = (await this.#log.locate(this.#topic, 0, null)).identity;
  }

  /** Identity of the log to which the offsets of new cursors belong. */
  get identity(): string {
    return this.#identity;
  }

  /**
   * @param ends known end offsets of the log, by partition
   * @returns next offset by partition, and the gaps before them
   */
  async locate(
    cursor: { offsets: ReadonlyMap<number, number>; identity: string | null },
    ends: ReadonlyMap<number, number>,
  ): Promise<{ offsets: Map<number, number>; gaps: CursorGap[] }> {
    const offsets = new Map<number, number>();
    const gaps: CursorGap[] = [];
    for (const [partition, end] of ends) {
      const from = cursor.offsets.get(partition);
      if (from === undefined) continue;
      const to = await this.#offsetOf(partition, from, end, cursor.identity);
      if (to !== from) gaps.push({ partition, from, to });
      offsets.set(partition, to);
    }
    return { offsets, gaps };
  }

  async #offsetOf(partition: number, offset: number, end: number, identity: string | null): Promise<number> {
    const isOurs = identity === null || identity === this.#identity;
    if (isOurs && offset <= end) return offset;
    if (identity !== null && this.#foreign.has(identity)) return 0;
    const { offset: to, discontinuity } = await this.#log.locate(this.#topic, partition, { offset, identity });
    // For removed records, the offsets of the remaining ones show the client the gap.
    if (discontinuity === null || discontinuity.kind === 'removed') return offset;
    if (discontinuity.kind === 'replaced' && identity !== null && this.#foreign.size < MAX_FOREIGN)
      this.#foreign.add(identity);
    return to;
  }
}
