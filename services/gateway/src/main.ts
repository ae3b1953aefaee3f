import { backingOf, hubCheck, logCheck, logVariables, openHub, openLog, serverVariablesWith } from '@outrider/backing';
import { needed, runService } from '@outrider/runtime';
import { createGateway } from './gateway.ts';
import { gatewayConfigOf, gatewayVariables } from './settings.ts';

const VARIABLES = {
  ...gatewayVariables,
  TERMINAL_SECRET: needed(
    'TERMINAL_SECRET',
    gatewayVariables.TERMINAL_SECRET,
    'what one gateway gives a terminal, the others must know again',
  ),
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL']),
};

/** The gateway in a process of its own; any number of them take terminals side by side. */
await runService('gateway', VARIABLES, async (parts) => {
  const { config, logger, metrics, tracing, life, now } = parts;
  const backing = backingOf(config, null);
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const hub = await life.open('hub', () => openHub(backing, logger));
  const gateway = createGateway({
    config: gatewayConfigOf(config, config.TERMINAL_SECRET),
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
      ...(config.MQTT_URL === null ? {} : { broker: async () => ({ warnings: gateway.warnings }) }),
      async intake() {
        if (!gateway.healthy) throw new Error('the log takes no packets');
      },
    },
    ports: gateway.ports,
  };
});
