import { join } from 'node:path';
import { openSqliteCheckpoints } from '@outrider/log';
import { createRules, type RulesConfig } from '@outrider/rules';
import { type LogAddress, openLog } from './stores.ts';
import { runInThread } from './threads.ts';

export interface RulesSettings {
  config: RulesConfig;
  log: LogAddress;
}

/** The rules in a thread of their own: the engine has a core to itself where there is one. */
await runInThread<RulesSettings>(async ({ settings, hub, diary, metrics }) => {
  const log = await openLog(settings.log, diary);
  const checkpoints = openSqliteCheckpoints({ path: join(settings.log.folder, 'checkpoints.sqlite') });
  const rules = createRules({
    config: settings.config,
    log,
    checkpoints,
    hub,
    diary: diary.child({ part: 'rules' }),
    metrics,
    now: Date.now,
  });
  return {
    part: rules,
    told: () => null,
    healthy: () => true,
    async close() {
      await checkpoints.close();
      await log.close();
    },
  };
});
