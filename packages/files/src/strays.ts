import type { Files } from './files.ts';

/** Defines which files of a store are strays: of this kind, old enough, and without an owner. */
export interface StraySearch {
  /** Unix milliseconds: a file stored later may belong to an upload that is still in progress. */
  storedBeforeMs: number;
  /** The owner of a file, by its id; null: the file is of another kind, and left alone. */
  ownerOf(id: string): string | null;
  /** Those of the owners that are known to have their file. */
  known(owners: readonly string[]): Promise<ReadonlySet<string>>;
  /** Called with each stray before it is removed. */
  onStray(id: string): void;
}

/** Number of files checked at a time. */
const AT_ONCE = 100;

/** Removes files without an owner, which a crash between two writes may have left. */
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
