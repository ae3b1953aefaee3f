import { type Backing, logWarnings, openLog } from '@outrider/backing';
import { createGateway, type GatewayConfig } from '@outrider/gateway';
import { runInThread } from './threads.ts';

export interface GatewaySettings {
  config: GatewayConfig;
  backing: Backing;
  /** Of the embedded log, see `SqliteLogOptions`. */
  commitGapMs: number;
}

/** The gateway in a thread of its own: busy terminal ports do not delay REST calls. */
await runInThread<GatewaySettings>(async ({ settings, hub, logger, metrics, tracing }) => {
  const log = await openLog(settings.backing, logger, metrics, { commitGapMs: settings.commitGapMs });
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
    result: () => ({ ports: gateway.ports, tlsPorts: gateway.tlsPorts, udpPorts: gateway.udpPorts }),
    healthy: () => gateway.healthy,
    warnings: () => [...logWarnings(log), ...gateway.warnings],
    behind: () => log.behind(),
    close: () => log.close(),
  };
});
