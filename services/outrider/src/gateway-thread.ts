import { createGateway, type GatewayConfig } from '@outrider/gateway';
import { type LogAddress, openLog } from './stores.ts';
import { runInThread } from './threads.ts';

export interface GatewaySettings {
  config: GatewayConfig;
  log: LogAddress;
}

/** The gateway in a thread of its own: a busy port keeps no person waiting. */
await runInThread<GatewaySettings>(async ({ settings, hub, diary, metrics }) => {
  const log = await openLog(settings.log, diary);
  const gateway = createGateway({
    config: settings.config,
    log,
    hub,
    diary: diary.child({ part: 'gateway' }),
    metrics,
    now: Date.now,
  });
  return { part: gateway, told: () => gateway.ports, healthy: () => gateway.healthy, close: () => log.close() };
});
