/**
 * Remembers that a query for due work found none. The query is not made again until something was written to the
 * database, by whatever connection, or the time at which work falls due has come. So a worker may ask often, and an
 * idle service runs no queries for it.
 */
export class NothingDue {
  readonly #version: () => string;
  readonly #known = new Map<string, { version: string; untilMs: number }>();

  /** @param version of what is in the database: another after each write */
  constructor(version: () => string) {
    this.#version = version;
  }

  /**
   * @param work names the query with its parameters; there are few of them
   * @param ask returns null, or an empty list, where nothing is due
   * @param nextDueMs when something falls due if nothing is written until then; asked where `ask` found nothing
   * @returns what `ask` returned last where that is still right
   */
  async unlessKnown<T extends object | null>(
    work: string,
    nowMs: number,
    none: T,
    ask: () => Promise<T>,
    nextDueMs: () => Promise<number | null>,
  ): Promise<T> {
    const version = this.#version();
    const known = this.#known.get(work);
    if (known?.version === version && nowMs < known.untilMs) return none;
    const found = await ask();
    if (found === null || (Array.isArray(found) && found.length === 0))
      this.#known.set(work, { version, untilMs: (await nextDueMs()) ?? Number.POSITIVE_INFINITY });
    return found;
  }
}
