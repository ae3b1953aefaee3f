import { type Backing, logWarnings, openLog } from '@outrider/backing';
import { createGateway, type GatewayConfig } from '@outrider/gateway';
import { COMMIT_GAP_MS } from '@outrider/log';
import { runInThread } from './threads.ts';

export interface GatewaySettings {
  config: GatewayConfig;
  backing: Backing;
}

/** The gateway in a thread of its own: busy terminal ports do not delay REST calls. */
await runInThread<GatewaySettings>(async ({ settings, hub, logger, metrics, tracing }) => {
  const log = await openLog(settings.backing, logger, metrics, { commitGapMs: COMMIT_GAP_MS });
  const gateway = createGateway({
    config: settings.config,
    log,
    hub,
    logger: logger.child({ part: 'gateway' }),
    metrics,
    tracing,
    now: Date.now,
  });
  return {
    part: gateway,
    result: () => gateway.ports,
    healthy: () => gateway.healthy,
    warnings: () => logWarnings(log),
    close: () => log.close(),
  };
});
