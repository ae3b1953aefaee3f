import { defineService } from '@outrider/backing';
import { createRules } from './rules.ts';
import { rulesConfigOf, rulesVariables } from './settings.ts';

/** The rules; members share the partitions of the telemetry. */
export const service = defineService({
  name: 'rules',
  settings: rulesVariables,
  stores: ['log', 'checkpoints', 'hub'],
  patient: ['checkpoints', 'hub'],
  // A separate thread lets the engine use a processor of its own.
  thread: { module: import.meta.url },
  async start({ config, life, log, checkpoints, hub, loggerOf, metrics, tracing, clock }) {
    const logger = loggerOf('rules');
    await life.start(
      createRules({ config: rulesConfigOf(config), log, checkpoints, hub, logger, metrics, tracing, clock }),
    );
    // Any answer means healthy: a thread or a process that hangs does not answer.
    return { checks: { rules: async () => {} } };
  },
});
