import { ApiError, type Client } from '@outrider/client';
import { StartError } from '@outrider/runtime';
import type { ImportReport } from './import-notes.ts';
import type { Target } from './target.ts';

export type Outcome = 'made' | 'changed' | 'unchanged' | 'skipped' | 'failed';

export interface ImportRunOptions {
  /** Whether to only report what would be created. */
  isDryRun: boolean;
  report: ImportReport;
}

/** One run of an import: what it creates, and what it reports. */
export class ImportRun {
  readonly client: Client;
  readonly target: Target;
  readonly isDryRun: boolean;
  readonly print: (line: string) => void;
  readonly #report: ImportReport;
  readonly #counts = new Map<Outcome, number>();

  constructor(target: Target, { isDryRun, report }: ImportRunOptions, print: (line: string) => void) {
    this.client = target.client;
    this.target = target;
    this.isDryRun = isDryRun;
    this.print = print;
    this.#report = report;
  }

  /** Number of items that could not be imported. */
  get failed(): number {
    return this.#counts.get('failed') ?? 0;
  }

  say(outcome: Outcome, what: string, why = ''): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
    this.#report.write(outcome, what, why);
    if (outcome !== 'unchanged') this.print(`${outcome}: ${what}${why === '' ? '' : `: ${why}`}`);
  }

  sumUp(): void {
    const counts = [...this.#counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
    this.print(`${this.isDryRun ? 'dry run: ' : ''}${counts === '' ? 'nothing to import' : counts}`);
  }

  /** Creates an item; null in a dry run or on failure. */
  async make<T>(what: string, make: () => Promise<T>): Promise<T | null> {
    if (this.isDryRun) {
      this.say('made', what);
      return null;
    }
    const made = await this.attempt(what, () => this.call(make));
    if (made !== null) this.say('made', what);
    return made;
  }

  /** Adds an existing item to the groups that it is missing from. */
  async addToGroups(
    what: string,
    missing: readonly string[],
    add: (groupId: string) => Promise<unknown>,
  ): Promise<void> {
    const { length } = missing;
    if (length === 0) return this.say('unchanged', what);
    const addAll = async () => {
      for (const groupId of missing) await add(groupId);
      return true;
    };
    const done = this.isDryRun || (await this.attempt(what, addAll));
    if (done) this.say('changed', what, `put into ${length} ${length === 1 ? 'group' : 'groups'} more`);
  }

  /** Reports a refused call, so that the import continues. */
  async attempt<T>(what: string, attempt: () => Promise<T>): Promise<T | null> {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof StartError)) throw error;
      const details = error instanceof ApiError ? (error.problem.errors ?? []).map(({ detail }) => detail) : [];
      this.say('failed', what, [error.message, ...details].join(' '));
      return null;
    }
  }

  call<T>(make: () => Promise<T>): Promise<T> {
    return this.target.call(make);
  }

  /** All items of a paginated list. */
  async *all<T>(list: (page: ListPage) => Promise<{ items: T[]; nextCursor: string | null }>): AsyncGenerator<T> {
    const pages = this.client.pages((cursor) =>
      this.call(() => list({ query: { limit: 1000, ...(cursor === undefined ? {} : { cursor }) } })),
    );
    for await (const items of pages) yield* items;
  }
}

/** Requested page of a list. */
export interface ListPage {
  query: { limit: number; cursor?: string };
}
