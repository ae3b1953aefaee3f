import { Counter, type Metrics } from '@outrider/runtime';

/** Metrics of recalculations. */
export function recalculatorMetrics(registry: Metrics) {
  const registers = [registry];
  return {
    jobs: new Counter({
      name: 'outrider_recalculations_total',
      help: 'Recalculations that were done, by kind',
      labelNames: ['kind'],
      registers,
    }),
    positions: new Counter({
      name: 'outrider_recalculated_positions_total',
      help: 'Positions that recalculations went through',
      registers,
    }),
    corrected: new Counter({
      name: 'outrider_recalculated_events_total',
      help: 'Events that recalculations added, changed or removed',
      registers,
    }),
    again: new Counter({
      name: 'outrider_recalculations_unsettled_total',
      help: 'Recalculations of what still lasted, which is looked at again',
      registers,
    }),
    published: new Counter({
      name: 'outrider_late_events_total',
      help: 'Events that late data made known, published for notifications',
      registers,
    }),
    logFull: new Counter({
      name: 'outrider_late_events_log_full_total',
      help: 'Times the log was too full to take events that late data made known',
      registers,
    }),
  };
}
