import { join } from 'node:path';
import { defineService, logWarnings } from '@outrider/backing';
import { NotReadyError, needed } from '@outrider/runtime';
import { createGateway } from './gateway.ts';
import { gatewayConfigOf, gatewayVariables } from './settings.ts';
import { openTerminalSecret } from './terminal-secret.ts';

/** The gateway. Any number of instances serve terminals side by side. */
export const service = defineService({
  name: 'gateway',
  settings: gatewayVariables,
  ownSettings: {
    TERMINAL_SECRET: needed(
      'TERMINAL_SECRET',
      gatewayVariables.TERMINAL_SECRET,
      'what one gateway gives a terminal, the others must know again',
    ),
  },
  stores: ['log', 'hub'],
  // In a separate thread, so that busy terminal ports do not delay REST calls.
  thread: { module: import.meta.url, isBusyWriter: true },
  async start({ config, folder, life, log, hub, loggerOf, metrics, tracing, clock }) {
    const terminalSecret = config.TERMINAL_SECRET ?? (await openTerminalSecret(join(folder ?? '.', 'terminal-secret')));
    const gateway = createGateway({
      config: gatewayConfigOf(config, terminalSecret),
      log,
      hub,
      logger: loggerOf('gateway'),
      metrics,
      tracing,
      clock,
    });
    await life.start(gateway);
    return {
      checks: {
        ...(config.MQTT_URL === null ? {} : { broker: async () => ({ warnings: gateway.warnings }) }),
        async log() {
          if (!gateway.healthy) throw new NotReadyError('packets can not be appended to the log', logWarnings(log));
        },
      },
      ports: gateway.ports,
      terminalPorts: { ports: gateway.ports, tlsPorts: gateway.tlsPorts, udpPorts: gateway.udpPorts },
    };
  },
});
