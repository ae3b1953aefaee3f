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
    'Packets in the log that the rules have not taken in',
    ({ packets }) => packets,
  );
  gaugeOfLag(
    'outrider_rules_oldest_unprocessed_seconds',
    'At most so long ago the oldest packet was received that the rules have not taken in',
    ({ oldestSeconds }) => oldestSeconds,
  );
  gaugeOfLag(
    'outrider_rules_checkpoint_age_seconds',
    'Age of the oldest checkpoint that something is missing in',
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
    help: 'Vehicles that the rules keep a state of',
    registers,
    collect() {
      this.set(vehicles());
    },
  });
  const events = new Counter({
    name: 'outrider_events_total',
    help: 'Events put into the log, by kind and phase',
    labelNames: ['kind', 'phase'],
    registers,
  });
  const endToEnd = new Histogram({
    name: 'outrider_end_to_end_seconds',
    help: 'From the receipt of a packet until its position is live, or its event published; of one packet in each batch',
    labelNames: ['stage'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  });
  return {
    packets: new Counter({ name: 'outrider_rules_packets_total', help: 'Packets taken from the log', registers }),
    positions: new Counter({ name: 'outrider_rules_positions_total', help: 'Positions taken from the log', registers }),
    rejected: new Counter({
      name: 'outrider_rejected_positions_total',
      help: 'Positions that moved nothing because something is wrong with them, by reason',
      labelNames: ['reason'],
      registers,
    }),
    moved: new Counter({
      name: 'outrider_rules_moves_total',
      help: 'Positions that moved a vehicle: good fixes, newer than the newest',
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
      help: 'Events that a replay made again and that were left out',
      registers,
    }),
    surplusGeofences: new Counter({
      name: 'outrider_rules_surplus_geofences_total',
      help: 'Geofences around positions that did not count: beyond what one owner may have at one place',
      registers,
    }),
    surplusEvents: new Counter({
      name: 'outrider_rules_surplus_events_total',
      help: 'Events left out: beyond what may begin in a minute of one vehicle because of one owner',
      registers,
    }),
    late: new Counter({
      name: 'outrider_rules_late_intervals_total',
      help: 'Stretches of the past that late positions came for',
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
