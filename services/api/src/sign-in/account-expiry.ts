import type { Clock } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { type Logger, type Part, poller } from '@outrider/runtime';

export interface AccountExpiryParts {
  registry: Pick<Registry, 'users'>;
  logger: Logger;
  clock: Clock;
}

const AT_ONCE = 100;
const POLL_MS = 1000;

/** Blocks expired accounts within a second. From then on they are treated like any other blocked account. */
export function createAccountExpiry({ registry, logger, clock }: AccountExpiryParts): Part {
  return poller({
    name: 'expiry of accounts',
    async work(signal) {
      for (;;) {
        const expired = await registry.users.expire(AT_ONCE);
        for (const userId of expired) logger.info({ userId }, 'account expired');
        if (expired.length < AT_ONCE || signal?.aborted === true) return;
      }
    },
    everyMs: POLL_MS,
    logger,
    clock,
  });
}
