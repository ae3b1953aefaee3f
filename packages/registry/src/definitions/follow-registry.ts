import { asChange, changeVersionOf, type DefinitionChange, Directory } from '@outrider/domain';
import type { Registry } from '../registry.ts';
import { coalesced } from '../store/coalesced.ts';
import type { ChangeListener } from '../store/store.ts';

/** A view of all definitions. */
export interface FollowedRegistry {
  directory: Directory;
  /**
   * Resolves when every change committed before the call, by any process, is applied. Costs one query, which all
   * callers that wait at the same time share.
   *
   * @throws {RegistryAwayError} when the database does not answer
   */
  refresh(): Promise<void>;
  stop(): void;
}

/**
 * A view of all definitions. Changes made through this registry are applied before the call that made them resolves.
 * Changes of other processes are applied by `refresh`.
 *
 * @param onChange called with every change of another process that was not known yet
 */
export async function followRegistry(
  registry: Registry,
  onChange: (change: DefinitionChange) => void = () => {},
): Promise<FollowedRegistry> {
  const directory = new Directory();
  const take: ChangeListener = (changes) => {
    for (const change of changes) directory.apply(change);
  };
  // Listens first: a change made while the snapshot is read is in one of the two, and the newer version wins.
  const stop = registry.onChange(take);
  let seq: number;
  try {
    // Read before the snapshot, which then holds all changes up to it. Those in both are applied once.
    seq = await registry.recentChanges.newest();
    take(await registry.snapshot());
  } catch (error) {
    stop();
    throw error;
  }

  const apply = (change: DefinitionChange) => {
    if (directory.apply(change) !== undefined) onChange(change);
  };

  /** Reads all definitions again, because more changes were made than are kept. */
  async function readAnew(): Promise<void> {
    const newest = await registry.recentChanges.newest();
    // Definitions that are created from here on need not be in the snapshot.
    const before = [...directory.all()];
    const changes = await registry.snapshot();
    const present = new Set(changes.map(({ id }) => id));
    for (const definition of before)
      if (!present.has(definition.id))
        apply({ ...asChange(definition, 0), version: changeVersionOf(definition) + 1, definition: null });
    for (const change of changes) apply(change);
    seq = newest;
  }

  const refresh = coalesced(async () => {
    for (;;) {
      const news = await registry.recentChanges.after(seq);
      if (news === 'too-many') return readAnew();
      for (const change of news.changes) apply(change);
      seq = news.seq;
      if (news.changes.length === 0) return;
    }
  });
  return { directory, refresh, stop };
}
