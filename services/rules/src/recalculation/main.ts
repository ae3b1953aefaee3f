import {
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  openCheckpoints,
  openDirectory,
  openHub,
  openLog,
  openRegistryWithoutSecrets,
  openWarehouse,
  patientHub,
  serverVariablesWith,
} from '@outrider/backing';
import { runService } from '@outrider/runtime';
import { createCounterKeeper } from '../counters/keeper.ts';
import { createRecalculator } from './recalculator.ts';

const VARIABLES = {
  ...logVariables,
  ...serverVariablesWith(['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL']),
};

/**
 * The recalculator in a process of its own: a job over a month of the archive delays no live event, and the live rules
 * need neither of its stores. Jobs are leased one at a time, so a second instance only takes over when the first one
 * crashes.
 */
await runService('recalculator', VARIABLES, async (parts) => {
  const { config, logger, metrics, life, now } = parts;
  const backing = backingOf(config, null);
  const registry = await life.open('registry', () => openRegistryWithoutSecrets(backing, logger));
  const log = await life.open('log', () => openLog(backing, logger, metrics));
  const checkpoints = await life.open('checkpoints', () => openCheckpoints(backing, logger));
  const warehouse = await life.open('warehouse', () => openWarehouse(backing));
  const definitions = await openDirectory(registry, log, 'recalculator', logger);
  await life.start(definitions);
  const recalculator = createRecalculator({
    log,
    checkpoints,
    jobs: registry.jobs,
    history: warehouse,
    directory: definitions.directory,
    counters: registry.counters,
    refresh: definitions.refresh,
    logger,
    metrics,
    now,
  });
  await life.start(recalculator);
  const hub = patientHub(await openHub(backing, logger), logger);
  life.own('hub', () => hub.close());
  const counters = createCounterKeeper({
    log,
    checkpoints,
    hub,
    registry,
    history: warehouse,
    directory: definitions.directory,
    logger,
    metrics,
    now,
  });
  await life.start(counters);
  return {
    checks: {
      log: logCheck(log),
      registry: () => registry.ping(),
      warehouse: () => warehouse.ping(),
      hub: hubCheck(hub, now),
      async counters() {
        if (!counters.healthy) throw new Error('counters of vehicles are not kept');
      },
      async jobs() {
        if (!recalculator.healthy) throw new Error('recalculations are not worked at');
      },
    },
  };
});
