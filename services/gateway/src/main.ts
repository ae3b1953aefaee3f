import {
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  needServers,
  openHub,
  openLog,
  serverVariables,
} from '@outrider/backing';
import { ConfigError, runService } from '@outrider/runtime';
import { createGateway } from './gateway.ts';
import { gatewayConfigOf, gatewayVariables } from './settings.ts';

/** The gateway in a process of its own; any number of them take terminals side by side. */
await runService('gateway', { ...gatewayVariables, ...logVariables, ...serverVariables }, async (parts) => {
  const { config, logger, metrics, tracing, life, now } = parts;
  needServers(config, ['KAFKA_BROKERS', 'REDIS_URL']);
  const { TERMINAL_SECRET: terminalSecret } = config;
  if (terminalSecret === null)
    throw new ConfigError([
      'TERMINAL_SECRET must be set: what one gateway gives a terminal, the others must know again',
    ]);
  const backing = backingOf(config, null);
  const log = await openLog(backing, logger, metrics);
  life.own('log', () => log.close());
  const hub = await openHub(backing, logger);
  life.own('hub', () => hub.close());
  const gateway = createGateway({
    config: gatewayConfigOf(config, terminalSecret),
    log,
    hub,
    logger,
    metrics,
    tracing,
    now,
  });
  await life.start(gateway);
  return {
    checks: {
      log: logCheck(log),
      hub: hubCheck(hub, now),
      async intake() {
        if (!gateway.healthy) throw new Error('the log takes no packets');
      },
    },
    ports: gateway.ports,
  };
});
