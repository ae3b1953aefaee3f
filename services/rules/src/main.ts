import {
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  needServers,
  openCheckpoints,
  openHub,
  openLog,
  patientCheckpoints,
  patientHub,
  serverVariables,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createRules } from './rules.ts';
import { rulesConfigOf, rulesVariables } from './settings.ts';

/** The rules in a process of its own; members share the partitions of the telemetry. */
await runService('rules', { ...rulesVariables, ...logVariables, ...serverVariables }, async (parts) => {
  const { config, logger, metrics, tracing, life, now } = parts;
  needServers(config, ['KAFKA_BROKERS', 'REDIS_URL']);
  const backing = backingOf(config, null);
  const log = await openLog(backing, logger, metrics);
  life.own('log', () => log.close());
  const checkpoints = patientCheckpoints(await openCheckpoints(backing, logger), logger);
  life.own('checkpoints', () => checkpoints.close());
  const hub = patientHub(await openHub(backing, logger), logger);
  life.own('hub', () => hub.close());
  await life.start(
    createRules({ config: rulesConfigOf(config), log, checkpoints, hub, logger, metrics, tracing, now }),
  );
  return { checks: { log: logCheck(log), hub: hubCheck(hub, now) } };
});
