import { type Backing, logWarnings, openCheckpoints, openLog, patientCheckpoints } from '@outrider/backing';
import { isDiskOutage } from '@outrider/log';
import { createRules, type RulesConfig } from '@outrider/rules';
import { runInThread } from './threads.ts';

export interface RulesSettings {
  config: RulesConfig;
  backing: Backing;
}

/** The rules in a thread of their own, so that the engine can have a core of its own. */
await runInThread<RulesSettings>(async ({ settings, hub, logger, metrics, tracing }) => {
  const log = await openLog(settings.backing, logger, metrics);
  const checkpoints = patientCheckpoints(await openCheckpoints(settings.backing, logger), logger, isDiskOutage);
  const rules = createRules({
    config: settings.config,
    log,
    checkpoints,
    hub,
    logger: logger.child({ part: 'rules' }),
    metrics,
    tracing,
    now: Date.now,
  });
  return {
    part: rules,
    result: () => null,
    healthy: () => true,
    warnings: () => logWarnings(log),
    behind: () => log.behind(),
    async close() {
      await checkpoints.close();
      await log.close();
    },
  };
});
