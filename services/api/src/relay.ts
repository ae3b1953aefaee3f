import { definitionsTopic, type Log } from '@outrider/log';
import type { Registry } from '@outrider/registry';
import { type Logger, type Part, poller } from '@outrider/runtime';
import { isInStep, reconcileDefinitions } from './definitions-reconciliation.ts';

export interface RelayParts {
  registry: Pick<Registry, 'outbox' | 'onChange' | 'definitionVersions' | 'definitionsOf'>;
  log: Pick<Log, 'append' | 'bounds' | 'read'>;
  logger: Logger;
  /** Unix milliseconds. */
  now(): number;
}

export interface Relay extends Part {
  /** False while the log takes nothing: changes are safe in the outbox, and not yet in force. */
  readonly healthy: boolean;
}

const AT_ONCE = 500;
/** Changes made by another process are found by polling; those of this one are published at once. */
const LOOK_EVERY_MS = 250;

/**
 * Carries committed changes of definitions from the registry's outbox to topic `definitions`, in order and at least
 * once: a reader knows by the version what it has seen. At start the topic is compared with the registry: it may have
 * been lost, and the outbox holds only what was never published.
 */
export function createRelay({ registry, log, logger, now }: RelayParts): Relay {
  let leave: () => void = () => {};
  let reconciled = false;

  /** Where another instance is at it, it carries what there is. */
  async function carry(): Promise<void> {
    if (!reconciled) reconciled = (await registry.outbox.inTurn(reconcile)) ?? false;
    if ((await registry.outbox.pending(1)).length > 0) await registry.outbox.inTurn(carryAll);
  }

  async function reconcile(): Promise<true> {
    await carryAll();
    const difference = await reconcileDefinitions({ registry, log, now }, true);
    if (!isInStep(difference)) logger.warn({ ...difference }, 'topic definitions lacked definitions: republished');
    if (difference.newer > 0)
      logger.error(
        { newer: difference.newer },
        'topic definitions is newer than the registry: changes do not take effect',
      );
    return true;
  }

  async function carryAll(): Promise<void> {
    for (;;) {
      const pending = await registry.outbox.pending(AT_ONCE);
      if (pending.length === 0) return;
      await log.append(
        definitionsTopic,
        pending.map(({ change }) => change),
      );
      await registry.outbox.delivered(pending.map(({ seq }) => seq));
    }
  }

  const rounds = poller({
    name: 'relay of definitions',
    work: carry,
    everyMs: LOOK_EVERY_MS,
    retryMs: LOOK_EVERY_MS,
    logger,
  });

  return {
    name: 'relay',
    get healthy() {
      return rounds.healthy;
    },
    async start() {
      // What an earlier run left in the outbox comes first: services that start next find the topic complete.
      await carry();
      leave = registry.onChange(() => rounds.wake());
      await rounds.start();
    },
    async stop() {
      leave();
      await rounds.stop();
      await carry();
    },
  };
}
