import type { Clock } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { Gauge, type Logger, type Metrics, NotReadyError, type Part, type PartReport, poller } from '@outrider/runtime';
import {
  carryOutbox,
  lackingOf,
  lostOf,
  type ReconciliationParts,
  reconcileDefinitions,
} from '../upkeep/definitions-reconciliation.ts';

export interface RelayParts {
  registry: ReconciliationParts['registry'] & Pick<Registry, 'outbox' | 'onChange'>;
  log: ReconciliationParts['log'];
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface Relay extends Part {
  /**
   * Check for `/health/ready`.
   *
   * @throws {Error} while the log accepts no records: changes are safe in the outbox, but not yet in force
   * @throws {NotReadyError} while the registry lacks what it once published
   */
  check(): Promise<PartReport>;
}

/** Polling interval, for changes made by another process. Changes made by this process are published at once. */
const LOOK_EVERY_MS = 250;
/** An operator's command in another process may have restored what the registry lost. */
const COMPARE_AGAIN_AFTER_MS = 60_000;
const IN_STEP = Number.POSITIVE_INFINITY;

/**
 * Publishes committed changes of definitions from the registry's outbox to topic `definitions`, in order and at least
 * once. Readers recognise duplicates by the version.
 *
 * At start the topic is compared with the registry: the topic may have been lost, and the outbox holds only unpublished
 * changes. If the registry lacks what the topic has, nothing more is published: the topic is the only other copy, and
 * it keeps only the last record of each definition.
 */
export function createRelay({ registry, log, logger, metrics, clock }: RelayParts): Relay {
  let leave: () => void = () => {};
  let compareAtMs = 0;
  let lost = 0;
  new Gauge({
    name: 'outrider_definitions_lost',
    help: 'Definitions that are in topic `definitions` but missing or outdated in the registry',
    registers: [metrics],
    collect() {
      this.set(lost);
    },
  });

  /** Publishes the outbox. Does nothing while another instance does it. */
  async function carry(): Promise<void> {
    if (clock.now() >= compareAtMs && (await registry.outbox.inTurn(reconcile)) !== null)
      compareAtMs = lost === 0 ? IN_STEP : clock.now() + COMPARE_AGAIN_AFTER_MS;
    if (compareAtMs === IN_STEP && (await registry.outbox.pending(1)).length > 0)
      await registry.outbox.inTurn(() => carryOutbox(registry, log));
  }

  async function reconcile(): Promise<void> {
    const difference = await reconcileDefinitions({ registry, log, now: clock.now }, 'mend');
    const { examples, ...counts } = difference;
    if (lackingOf(difference) > 0) logger.warn(counts, 'topic definitions lacked definitions: republished');
    lost = lostOf(difference);
    if (lost > 0)
      logger.error(
        { gone: counts.gone, newer: counts.newer, examples },
        'the registry lacks what topic definitions has, and no change takes effect: run "outrider registry rebuild"; ' +
          'or, to go on with the registry as it is, "outrider definitions republish"',
      );
  }

  const rounds = poller({
    name: 'relay of definitions',
    work: carry,
    everyMs: LOOK_EVERY_MS,
    retryMs: LOOK_EVERY_MS,
    logger,
    clock,
  });

  return {
    name: 'relay',
    async check() {
      if (!rounds.healthy) throw new Error('definitions do not reach the log');
      const sentence = `the registry lacks the newest state of ${lost} definitions: see DefinitionsLost in the runbook`;
      if (lost > 0) throw new NotReadyError(sentence, [sentence]);
      return { behind: { definitions: await registry.outbox.size() } };
    },
    async start() {
      // What an earlier run left in the outbox is published first, so that services that start next find the topic
      // complete.
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
