import { Counter, Gauge, Histogram, type Registry } from '@outrider/runtime';

/** What the rules count, under the names that `/metrics` shows. */
export function rulesMetrics(registry: Registry, vehicles: () => number) {
  const registers = [registry];
  new Gauge({
    name: 'outrider_rules_vehicles',
    help: 'Vehicles that the rules keep a state of',
    registers,
    collect() {
      this.set(vehicles());
    },
  });
  return {
    packets: new Counter({ name: 'outrider_rules_packets_total', help: 'Packets taken from the log', registers }),
    positions: new Counter({ name: 'outrider_rules_positions_total', help: 'Positions taken from the log', registers }),
    moved: new Counter({
      name: 'outrider_rules_moves_total',
      help: 'Positions that moved a vehicle: good fixes, newer than the newest',
      registers,
    }),
    events: new Counter({
      name: 'outrider_events_total',
      help: 'Events put into the log, by kind and phase',
      labelNames: ['kind', 'phase'],
      registers,
    }),
    replayed: new Counter({
      name: 'outrider_rules_replayed_events_total',
      help: 'Events that a replay made again and that were left out',
      registers,
    }),
    logFull: new Counter({
      name: 'outrider_rules_log_full_total',
      help: 'Times the log was too full to take events',
      registers,
    }),
    fenced: new Counter({
      name: 'outrider_rules_fenced_total',
      help: 'Partitions let go of because another member had claimed them',
      registers,
    }),
    checkpoints: new Histogram({
      name: 'outrider_rules_checkpoint_seconds',
      help: 'How long a checkpoint takes to be durable',
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
  };
}

export type RulesMetrics = ReturnType<typeof rulesMetrics>;
