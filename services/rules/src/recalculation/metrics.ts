import { Counter, type Metrics } from '@outrider/runtime';

/** Metrics of recalculations. */
export function recalculatorMetrics(registry: Metrics) {
  const registers = [registry];
  return {
    jobs: new Counter({
      name: 'outrider_recalculations_total',
      help: 'Finished recalculations, by kind',
      labelNames: ['kind'],
      registers,
    }),
    positions: new Counter({
      name: 'outrider_recalculated_positions_total',
      help: 'Positions processed by recalculations',
      registers,
    }),
    corrected: new Counter({
      name: 'outrider_recalculated_events_total',
      help: 'Events that recalculations added, changed or removed',
      registers,
    }),
    again: new Counter({
      name: 'outrider_recalculations_unsettled_total',
      help: 'Recalculations that met an event still in progress and are repeated later',
      registers,
    }),
    published: new Counter({
      name: 'outrider_late_events_total',
      help: 'Events found in late data and published for notifications',
      registers,
    }),
    logFull: new Counter({
      name: 'outrider_late_events_log_full_total',
      help: 'Times the log was too full to accept events found in late data',
      registers,
    }),
  };
}
