import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { api } from '../../session.ts';

interface Page<T> {
  items: readonly T[];
  nextCursor: string | null;
}

/** Loads all items of a list that the API returns in pages. */
export async function allPages<T>(
  read: (cursor: { cursor?: string }) => Promise<{ items: T[]; nextCursor: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  for await (const items of api.pages((cursor) => read(cursor === undefined ? {} : { cursor }))) all.push(...items);
  return all;
}

/** A list that the API returns in pages. */
export class PagedList<T> {
  /** Null: the first page is loading. */
  readonly items: Signal<readonly T[] | null> = signal(null);
  readonly hasMore = signal(false);
  readonly isLoading = signal(false);
  readonly error = signal<unknown>(null);
  readonly #read: (cursor: string | undefined, ending: AbortSignal) => Promise<Page<T>>;
  #cursor: string | undefined;
  #ending = new AbortController();

  constructor(read: (cursor: string | undefined, ending: AbortSignal) => Promise<Page<T>>) {
    this.#read = read;
  }

  /** Loads the first page again. Shown items stay until it has arrived. */
  async reload(): Promise<void> {
    this.stop();
    this.#ending = new AbortController();
    this.#cursor = undefined;
    await this.#next(true);
  }

  /** Loads the next page, unless a page is loading. */
  async more(): Promise<void> {
    if (this.hasMore.peek() && !this.isLoading.peek()) await this.#next(false);
  }

  stop(): void {
    this.#ending.abort();
  }

  async #next(isFirst: boolean): Promise<void> {
    const { signal: ending } = this.#ending;
    this.isLoading.value = true;
    try {
      const { items, nextCursor } = await this.#read(this.#cursor, ending);
      if (ending.aborted) return;
      this.items.value = isFirst ? items : [...(this.items.peek() ?? []), ...items];
      this.#cursor = nextCursor ?? undefined;
      this.hasMore.value = nextCursor !== null;
      this.error.value = null;
    } catch (error) {
      if (!ending.aborted) this.error.value = error;
    } finally {
      if (!ending.aborted) this.isLoading.value = false;
    }
  }
}

/** A paged list in a component, loaded again when its dependencies change. */
export function usePages<T>(
  read: (cursor: string | undefined, ending: AbortSignal) => Promise<Page<T>>,
  inputs: readonly unknown[],
): PagedList<T> {
  const list = useMemo(() => new PagedList(read), inputs);
  useEffect(() => {
    void list.reload();
    return () => list.stop();
  }, [list]);
  return list;
}
