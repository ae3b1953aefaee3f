import type { Clock } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { type Logger, type Part, poller } from '@outrider/runtime';

export interface HousekeepingParts {
  config: { auditRetentionDays: number };
  registry: Pick<
    Registry,
    'vehicles' | 'audit' | 'sessions' | 'apiKeys' | 'idempotency' | 'jobs' | 'reportDeliveries' | 'shareLinks'
  >;
  logger: Logger;
  clock: Clock;
}

export interface Housekeeping extends Part {
  /** Removes everything that has expired. */
  tidy(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Finished jobs are kept this long. */
const JOB_DAYS = 30;
/** A dealer keeps a terminal this long after giving it up. */
const HOLDER_DAYS = 90;
const EVERY_MS = 600_000;
/** Rows per transaction: few, so that other writers can run in between. */
const AT_ONCE = 1000;

/** Deletes expired data from the registry, in parts so that other writers can run in between. */
export function createHousekeeping({ config, registry, logger, clock }: HousekeepingParts): Housekeeping {
  async function tidy(signal?: AbortSignal): Promise<void> {
    const all = async (clean: () => Promise<number>) => {
      while (signal?.aborted !== true && (await clean()) === AT_ONCE);
    };
    await all(() => registry.audit.clean(clock.now() - config.auditRetentionDays * DAY_MS, AT_ONCE));
    await all(() => registry.sessions.clean(AT_ONCE));
    await all(() => registry.apiKeys.clean(AT_ONCE));
    await all(() => registry.shareLinks.clean(AT_ONCE));
    await all(() => registry.idempotency.clean(AT_ONCE));
    await all(() => registry.jobs.clean(clock.now() - JOB_DAYS * DAY_MS, AT_ONCE));
    await all(() => registry.vehicles.forgetHolders(clock.now() - HOLDER_DAYS * DAY_MS, AT_ONCE));
    await all(() => registry.reportDeliveries.clean(clock.now() - JOB_DAYS * DAY_MS, AT_ONCE));
  }

  const { name, start, stop } = poller({ name: 'housekeeping', work: tidy, everyMs: EVERY_MS, logger, clock });
  return { name, start, stop, tidy: () => tidy() };
}
