import type { Files } from './files.ts';

/** Which files of a store are strays: of this make, old enough, and of nobody. */
export interface StraySearch {
  /** Unix milliseconds: what was stored later may be one that is just being put. */
  storedBeforeMs: number;
  /** What a file belongs to, by its id; null: it is of another make, and left alone. */
  ownerOf(id: string): string | null;
  /** Those of some owners that are known to have their file. */
  known(owners: readonly string[]): Promise<ReadonlySet<string>>;
  /** Called with each stray before it is removed. */
  onStray(id: string): void;
}

/** So many are asked about at a time. */
const AT_ONCE = 100;

/** Takes away files that belong to nobody: what a crash between two writes may have left. */
export async function removeStrays(files: Pick<Files, 'list' | 'delete'>, search: StraySearch): Promise<void> {
  let some: { id: string; owner: string }[] = [];
  const settle = async () => {
    const known = await search.known(some.map(({ owner }) => owner));
    for (const { id, owner } of some)
      if (!known.has(owner)) {
        search.onStray(id);
        await files.delete(id);
      }
    some = [];
  };
  for await (const { id, storedAtMs } of files.list()) {
    const owner = search.ownerOf(id);
    if (owner === null || storedAtMs > search.storedBeforeMs) continue;
    some.push({ id, owner });
    if (some.length >= AT_ONCE) await settle();
  }
  await settle();
}
