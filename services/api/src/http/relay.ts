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
   * The check of `/health/ready`.
   *
   * @throws {Error} while the log takes nothing: changes are safe in the outbox, and not yet in force
   * @throws {NotReadyError} while the registry lacks what it once published
   */
  check(): Promise<PartReport>;
}

/** Changes made by another process are found by polling; those of this one are published at once. */
const LOOK_EVERY_MS = 250;
/** A command may have mended, beside this process, what the registry lost. */
const COMPARE_AGAIN_AFTER_MS = 60_000;
const IN_STEP = Number.POSITIVE_INFINITY;

/**
 * Carries committed changes of definitions from the registry's outbox to topic `definitions`, in order and at least
 * once: a reader knows by the version what it has seen. At start the topic is compared with the registry: it may have
 * been lost, and the outbox holds only what was never published. Where the registry lacks
 * what the topic has, nothing more is published: the topic is the only other copy, and keeps the last record of each
 * definition alone.
 */
export function createRelay({ registry, log, logger, metrics, clock }: RelayParts): Relay {
  let leave: () => void = () => {};
  let compareAtMs = 0;
  let lost = 0;
  new Gauge({
    name: 'outrider_definitions_lost',
    help: 'Definitions of which the registry lacks what topic definitions has',
    registers: [metrics],
    collect() {
      this.set(lost);
    },
  });

  /** Where another instance is at it, it carries what there is. */
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
