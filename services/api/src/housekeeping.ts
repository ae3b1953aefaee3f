import type { Registry } from '@outrider/registry';
import type { Logger, Part } from '@outrider/runtime';

export interface HousekeepingParts {
  config: { auditRetentionDays: number };
  registry: Pick<Registry, 'vehicles' | 'audit' | 'sessions' | 'idempotency' | 'jobs' | 'reportDeliveries'>;
  logger: Logger;
  /** Unix milliseconds. */
  now: () => number;
}

export interface Housekeeping extends Part {
  /** Forgets everything whose time is over. */
  tidy(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** A job is kept for so long after its end. */
const JOB_DAYS = 30;
/** A terminal that was given up is its former dealer's for so long. */
const HOLDER_DAYS = 90;
const EVERY_MS = 600_000;
/** A transaction of this many holds up nobody. */
const AT_ONCE = 1000;

/** Forgets what the registry need not keep any longer: a part at a time, so that writers get their turn in between. */
export function createHousekeeping({ config, registry, logger, now }: HousekeepingParts): Housekeeping {
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();

  async function all(clean: () => Promise<number>): Promise<void> {
    while (!stopped && (await clean()) === AT_ONCE);
  }

  async function tidy(): Promise<void> {
    await all(() => registry.audit.clean(now() - config.auditRetentionDays * DAY_MS, AT_ONCE));
    await all(() => registry.sessions.clean(AT_ONCE));
    await all(() => registry.idempotency.clean(AT_ONCE));
    await all(() => registry.jobs.clean(now() - JOB_DAYS * DAY_MS, AT_ONCE));
    await all(() => registry.vehicles.forgetHolders(now() - HOLDER_DAYS * DAY_MS, AT_ONCE));
    await all(() => registry.reportDeliveries.clean(now() - JOB_DAYS * DAY_MS, AT_ONCE));
  }

  async function run(): Promise<void> {
    try {
      await tidy();
    } catch (error) {
      logger.error({ err: error }, 'what is out of date was not removed; trying again later');
    }
    if (!stopped)
      timer = setTimeout(() => {
        running = run();
      }, EVERY_MS);
  }

  return {
    name: 'housekeeping',
    tidy,
    async start() {
      running = run();
    },
    async stop() {
      stopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}
