import {
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  openCheckpoints,
  openHub,
  openLog,
  patientCheckpoints,
  patientHub,
  serverVariablesWith,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createRules } from './rules.ts';
import { rulesConfigOf, rulesVariables } from './settings.ts';

const VARIABLES = { ...rulesVariables, ...logVariables, ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL']) };

/** The rules in a process of its own; members share the partitions of the telemetry. */
await runService('rules', VARIABLES, async (parts) => {
  const { config, logger, metrics, tracing, life, now } = parts;
  const backing = backingOf(config, null);
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const checkpoints = patientCheckpoints(await openCheckpoints(backing, logger), logger);
  life.own('checkpoints', () => checkpoints.close());
  const hub = patientHub(await openHub(backing, logger), logger);
  life.own('hub', () => hub.close());
  await life.start(
    createRules({ config: rulesConfigOf(config), log, checkpoints, hub, logger, metrics, tracing, now }),
  );
  return { checks: { log: logCheck(log), hub: hubCheck(hub, now) } };
});
