import {
  archiveVariables,
  backingOf,
  hubCheck,
  logCheck,
  logVariables,
  needServers,
  openCheckpoints,
  openHub,
  openLog,
  openRegistry,
  openWarehouse,
  patientCheckpoints,
  patientHub,
  serverVariables,
} from '@outrider/backing';
import { Directory } from '@outrider/domain';
import { followDefinitions } from '@outrider/log';
import { runService } from '@outrider/runtime';
import { createRecalculator, createRules } from './rules.ts';
import { rulesConfigOf, rulesVariables } from './settings.ts';

/**
 * The rules in a process of its own; members share the partitions of the telemetry, and by leases the jobs of recalculating
 * the past.
 */
await runService(
  'rules',
  { ...rulesVariables, ...archiveVariables, ...logVariables, ...serverVariables },
  async (parts) => {
    const { config, diary, metrics, life, now } = parts;
    needServers(config, ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL']);
    const backing = backingOf(config, null);
    const log = await openLog(backing, diary, metrics);
    life.own('log', () => log.close());
    const checkpoints = patientCheckpoints(await openCheckpoints(backing, diary), diary);
    life.own('checkpoints', () => checkpoints.close());
    const hub = patientHub(await openHub(backing, diary), diary);
    life.own('hub', () => hub.close());
    await life.start(createRules({ config: rulesConfigOf(config), log, checkpoints, hub, diary, metrics, now }));

    const registry = await openRegistry(backing, diary);
    life.own('registry', () => registry.close());
    const warehouse = await openWarehouse(backing, { retentionDays: config.ARCHIVE_RETENTION_DAYS });
    life.own('warehouse', () => warehouse.close());
    const directory = new Directory();
    const definitions = await followDefinitions(log, 'recalculator', (change) => void directory.apply(change));
    await life.start({
      name: 'definitions',
      start: async () => {},
      stop: () => definitions.stop(),
      failed: definitions.failed,
    });
    await life.start(
      createRecalculator({
        log,
        checkpoints,
        jobs: registry.jobs,
        history: warehouse,
        directory,
        diary,
        metrics,
        now,
      }),
    );
    return {
      checks: {
        log: logCheck(log),
        hub: hubCheck(hub, now),
        registry: () => registry.ping(),
        warehouse: () => warehouse.ping(),
      },
    };
  },
);
