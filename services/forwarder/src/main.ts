import {
  backingOf,
  logCheck,
  logVariables,
  openDirectory,
  openLog,
  openRegistry,
  serverVariablesWith,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createForwarder, forwarderConfigOf, forwarderVariables } from './forwarder.ts';

const VARIABLES = { ...forwarderVariables, ...logVariables, ...serverVariablesWith(['KAFKA_BROKERS', 'DATABASE_URL']) };

/** Forwarding to other systems in a process of its own. Instances share the destinations by leases. */
await runService('forwarder', VARIABLES, async ({ config, logger, metrics, life, now }) => {
  const backing = backingOf(config, null);
  const registry = await life.open('registry', () => openRegistry(backing, logger));
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const definitions = await openDirectory(registry, log, 'forwarder', logger);
  await life.start(definitions);
  const forwarder = createForwarder({
    config: forwarderConfigOf(config, false),
    log,
    registry,
    directory: definitions.directory,
    logger,
    metrics,
    now,
    random: Math.random,
  });
  await life.start(forwarder);
  return {
    checks: {
      registry: () => registry.ping(),
      log: logCheck(log),
      async forwarding() {
        if (!forwarder.healthy) throw new Error('forwarding destinations are not worked at');
      },
    },
  };
});
