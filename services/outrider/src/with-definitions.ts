import { backingOf, openLog, openRegistry } from '@outrider/backing';
import type { Log } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import { StartError } from '@outrider/runtime';
import type { Command } from './command.ts';
import { openDataDir } from './data-dir.ts';

/**
 * Opens the registry and the log for a command that compares them, while no service publishes definitions.
 *
 * @throws {StartError} when a service is publishing; {DataDirError} when an embedded log or registry is in use
 */
export async function withDefinitions<T>(
  config: Parameters<Command>[1],
  logger: Parameters<Command>[2],
  work: (registry: Registry, log: Log) => Promise<T>,
): Promise<T> {
  // Embedded stores may only be used by one process.
  const isEmbedded = config.KAFKA_BROKERS === null || config.DATABASE_URL === null;
  const dataDir = isEmbedded ? openDataDir(config.DATA_DIR) : null;
  try {
    const backing = backingOf(config, dataDir?.path ?? null);
    await using stack = new AsyncDisposableStack();
    const registry = stack.adopt(await openRegistry(backing, logger), (opened) => opened.close());
    const log = stack.adopt(await openLog(backing, logger, null, { startsRun: true }), (opened) => opened.close());
    const done = await registry.outbox.inTurn(async () => ({ answer: await work(registry, log) }));
    if (done === null)
      throw new StartError('a service is publishing definitions at this moment: stop it, or try again');
    return done.answer;
  } finally {
    dataDir?.release();
  }
}
