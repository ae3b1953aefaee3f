import type { DefinitionChange, Directory } from '@outrider/domain';
import { followDefinitions, type Log } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import type { Logger, Part } from '@outrider/runtime';
import { refreshWithin } from './refresh-within.ts';

export interface OpenDirectory extends Part {
  /** All definitions that are in force. */
  directory: Directory;
  /**
   * Resolves when everything committed before the call, by any process, is in force. If the registry does not respond
   * within a second it resolves as well: the relay delivers the changes too, only later.
   */
  refresh(): Promise<void>;
  /** Rejects when changes made by other instances no longer arrive. */
  failed: Promise<never>;
}

const REFRESH_WITHIN_MS = 1000;

/**
 * All definitions, in a process that shares the registry with others. Changes of this process are in force at once;
 * those of others once the relay has published them, or after `refresh`.
 *
 * @param reader name for the group of the reader
 * @param onChange called with every new change by other instances
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
