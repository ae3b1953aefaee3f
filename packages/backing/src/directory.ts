import type { DefinitionChange, Directory } from '@outrider/domain';
import { followDefinitions, type Log } from '@outrider/log';
import { followRegistry, type Registry } from '@outrider/registry';
import type { Part } from '@outrider/runtime';

export interface OpenDirectory extends Part {
  /** Everything defined, as it is in force. */
  directory: Directory;
  /** Rejects when changes of others are heard no more. */
  failed: Promise<never>;
}

/**
 * Everything defined, in a process that shares the registry with others: what this one changes is in force at once, what others
 * change once the relay has told it.
 *
 * @param reader a name for the group that reads
 * @param onChange called with every change of others that was news
 */
export async function openDirectory(
  registry: Registry,
  log: Log,
  reader: string,
  onChange: (change: DefinitionChange) => void = () => {},
): Promise<OpenDirectory> {
  const { directory, stop: unfollow } = await followRegistry(registry);
  try {
    const changes = await followDefinitions(log, reader, (change) => {
      if (directory.apply(change) !== undefined) onChange(change);
    });
    return {
      name: 'directory',
      directory,
      failed: changes.failed,
      start: async () => {},
      async stop() {
        await changes.stop();
        unfollow();
      },
    };
  } catch (error) {
    unfollow();
    throw error;
  }
}
