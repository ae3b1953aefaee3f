import type { DefinitionChange, Directory } from '@outrider/domain';
import { followDefinitions, type Log } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import type { Logger, Part } from '@outrider/runtime';
import { refreshWithin } from './refresh-within.ts';

export interface OpenDirectory extends Part {
  /** Everything defined, as it is in force. */
  directory: Directory;
  /**
   * Resolves when everything is in force that was committed before the call, by whichever process. Where the registry
   * does not answer within a second it resolves as well: the relay brings changes too, only later.
   */
  refresh(): Promise<void>;
  /** Rejects when changes made by other instances no longer arrive. */
  failed: Promise<never>;
}

const REFRESH_WITHIN_MS = 1000;

/**
 * Everything defined, in a process that shares the registry with others: what this one changes is in force at once,
 * what others change once the relay has published it, or with `refresh`.
 *
 * @param reader a name for the group that reads
 * @param onChange called with every change of others that was news
 */
export async function openDirectory(
  registry: Registry,
  log: Log,
  reader: string,
  logger: Logger,
  onChange: (change: DefinitionChange) => void = () => {},
): Promise<OpenDirectory> {
  const { followRegistry } = await import('@outrider/registry');
  const { directory, refresh, stop: unfollow } = await followRegistry(registry, onChange);
  try {
    const changes = await followDefinitions(log, reader, (change) => {
      if (directory.apply(change) !== undefined) onChange(change);
    });
    return {
      name: 'directory',
      directory,
      refresh: refreshWithin(REFRESH_WITHIN_MS, refresh, logger),
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
