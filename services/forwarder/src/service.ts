import { defineService } from '@outrider/backing';
import { createForwarder } from './forwarder.ts';
import { forwarderConfigOf, forwarderVariables } from './settings.ts';

/** Forwarding to other systems. Instances share the destinations by leases. */
export const service = defineService({
  name: 'forwarder',
  settings: forwarderVariables,
  stores: ['registry', 'log', 'directory'],
  async start({ config, life, registry, log, directory, loggerOf, metrics, clock }) {
    const forwarder = createForwarder({
      // Without DATABASE_URL, no other process forwards.
      config: forwarderConfigOf(config, config.DATABASE_URL === null),
      log,
      registry,
      directory,
      logger: loggerOf('forwarder'),
      metrics,
      clock,
      random: Math.random,
    });
    await life.start(forwarder);
    return {
      checks: {
        async forwarder() {
          if (!forwarder.healthy) throw new Error('forwarding destinations are not worked at');
        },
      },
    };
  },
});
