/**
 * Remembers that a query found no due work. The query is not repeated until something was written to the database, by
 * any connection, or until the time at which work becomes due. So workers may poll often, and an idle service runs no
 * queries for it.
 */
export class NothingDue {
  readonly #version: () => string;
  readonly #known = new Map<string, { version: string; untilMs: number }>();

  /** @param version of the contents of the database: changes with each write */
  constructor(version: () => string) {
    this.#version = version;
  }

  /**
   * @param work names the query with its parameters; there are few of them
   * @param ask returns null, or an empty list, where nothing is due
   * @param nextDueMs when something becomes due if nothing is written until then; called where `ask` found nothing
   * @returns the result of `ask`; `none` where it is known that nothing is due
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
