import type { FleetEvent } from '@outrider/domain';
import { Counter, Gauge, Histogram, type Metrics } from '@outrider/runtime';

/** How far the rules are behind, over all their partitions. */
export interface Lag {
  packets: number;
  /** Time since the oldest waiting packet was received; 0 when none waits. */
  oldestSeconds: number;
  /** Age of the oldest checkpoint that lacks changes; 0 when none does. */
  checkpointSeconds: number;
}

/** Gauges of the lag. All gauges of one scrape show the same moment. */
function lagGauges(registers: Metrics[], lag: () => Promise<Lag | null>): void {
  let asking: Promise<Lag | null> | null = null;
  const ask = () => {
    asking ??= lag().finally(() => {
      asking = null;
    });
    return asking;
  };
  const gaugeOfLag = (name: string, help: string, inLag: (lag: Lag) => number) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const now = await ask();
        if (now !== null) this.set(inLag(now));
      },
    });
  gaugeOfLag(
    'outrider_rules_lag_packets',
    'Packets in the log that the rules have not processed',
    ({ packets }) => packets,
  );
  gaugeOfLag(
    'outrider_rules_oldest_unprocessed_seconds',
    'Upper bound of the age of the oldest packet that the rules have not processed',
    ({ oldestSeconds }) => oldestSeconds,
  );
  gaugeOfLag(
    'outrider_rules_checkpoint_age_seconds',
    'Age of the oldest checkpoint among the partitions that have changed since',
    ({ checkpointSeconds }) => checkpointSeconds,
  );
}

/**
 * Metrics of the rules, under the names that `/metrics` shows.
 *
 * @param lag called at every scrape; null when the log is unavailable
 */
export function rulesMetrics(registry: Metrics, vehicles: () => number, lag: () => Promise<Lag | null>) {
  const registers = [registry];
  lagGauges(registers, lag);
  new Gauge({
    name: 'outrider_rules_vehicles',
    help: 'Vehicles whose state the rules hold in memory',
    registers,
    collect() {
      this.set(vehicles());
    },
  });
  const events = new Counter({
    name: 'outrider_events_total',
    help: 'Events published to the log, by kind and phase',
    labelNames: ['kind', 'phase'],
    registers,
  });
  const endToEnd = new Histogram({
    name: 'outrider_end_to_end_seconds',
    help: 'Time from receipt of a packet until its position or event is published; measured for one packet of each batch',
    labelNames: ['stage'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  return {
    packets: new Counter({
      name: 'outrider_rules_packets_total',
      help: 'Packets the rules read from the log',
      registers,
    }),
    positions: new Counter({
      name: 'outrider_rules_positions_total',
      help: 'Positions the rules read from the log',
      registers,
    }),
    rejected: new Counter({
      name: 'outrider_rejected_positions_total',
      help: 'Positions rejected as implausible, by reason',
      labelNames: ['reason'],
      registers,
    }),
    moved: new Counter({
      name: 'outrider_rules_moves_total',
      help: 'Positions that updated the position of their vehicle: valid fixes newer than the previous one',
      registers,
    }),
    /** Counts records that were appended together. */
    countEvents(put: readonly FleetEvent[]): void {
      for (const [kind, ofKind] of Map.groupBy(put, (event) => event.kind))
        for (const [phase, alike] of Map.groupBy(ofKind, (event) => event.phase))
          events.inc({ kind, phase }, alike.length);
    },
    /**
     * Measures the time since the reception of a packet; clocks of two machines may differ.
     *
     * @param receivedAtMs null: nothing is measured
     */
    measure(stage: 'live' | 'event', receivedAtMs: number | null, nowMs: number): void {
      if (receivedAtMs !== null) endToEnd.observe({ stage }, Math.max(0, nowMs - receivedAtMs) / 1000);
    },
    replayed: new Counter({
      name: 'outrider_rules_replayed_events_total',
      help: 'Events recreated by a replay and skipped because they were already published',
      registers,
    }),
    surplusGeofences: new Counter({
      name: 'outrider_rules_surplus_geofences_total',
      help: 'Geofences ignored at a position because their owner has too many overlapping there',
      registers,
    }),
    surplusEvents: new Counter({
      name: 'outrider_rules_surplus_events_total',
      help: 'Events dropped by the limit per minute, vehicle and owner',
      registers,
    }),
    late: new Counter({
      name: 'outrider_rules_late_intervals_total',
      help: 'Past time intervals for which late positions arrived',
      registers,
    }),
    logFull: new Counter({
      name: 'outrider_rules_log_full_total',
      help: 'Times the log was too full to accept events',
      registers,
    }),
    fenced: new Counter({
      name: 'outrider_rules_fenced_total',
      help: 'Partitions released because another instance had claimed them',
      registers,
    }),
    checkpoints: new Histogram({
      name: 'outrider_rules_checkpoint_seconds',
      help: 'Time until a checkpoint is stored durably',
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
  };
}

export type RulesMetrics = ReturnType<typeof rulesMetrics>;
