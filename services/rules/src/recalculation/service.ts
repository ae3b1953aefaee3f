import { defineService } from '@outrider/backing';
import { createCounterKeeper } from '../counters/keeper.ts';
import { createRecalculator } from './recalculator.ts';

/**
 * Recalculations and counters: a job over a month of the archive delays no live event, and the live rules need neither
 * of its stores. Jobs are leased one at a time, so a second instance only takes over when the first one crashes.
 */
export const service = defineService({
  name: 'recalculator',
  settings: {},
  stores: ['registry', 'log', 'checkpoints', 'warehouse', 'directory', 'hub'],
  storeOptions: () => ({ registry: { withoutSecrets: true } }),
  patient: ['hub'],
  async start({ life, registry, log, checkpoints, warehouse, directory, hub, refresh, neighbours, ...parts }) {
    const { loggerOf, metrics, clock } = parts;
    const { hurryArchiver, archiveUnreadMs } = neighbours;
    const shared = {
      log,
      checkpoints,
      history: warehouse,
      directory,
      metrics,
      clock,
      ...(hurryArchiver && { hurryArchiver }),
    };
    const recalculator = createRecalculator({
      ...shared,
      jobs: registry.jobs,
      counters: registry.counters,
      ...(refresh && { refresh }),
      logger: loggerOf('recalculator'),
    });
    await life.start(recalculator);
    const counters = createCounterKeeper({
      config: { ...(archiveUnreadMs !== undefined && { unreadMs: archiveUnreadMs }) },
      ...{ ...shared, hub, registry, logger: loggerOf('counters') },
    });
    await life.start(counters);
    return {
      checks: {
        async jobs() {
          if (!recalculator.healthy) throw new Error('recalculations are not worked at');
        },
        async counters() {
          if (!counters.healthy) throw new Error('counters of vehicles are not kept');
        },
      },
      neighbours: { countersRead: () => counters.read() },
    };
  },
});
