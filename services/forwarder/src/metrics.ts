import { Counter, Gauge, type Metrics } from '@outrider/runtime';

export interface ForwarderMetrics {
  forwarded(kind: string, type: 'position' | 'event', count: number): void;
  refused(kind: string, count: number): void;
  failed(kind: string): void;
  lost(kind: string): void;
}

/**
 * @param state current state of this process
 * @param counts of all destinations; rejects while the registry is unavailable
 */
export function createForwarderMetrics(
  metrics: Metrics,
  kinds: readonly string[],
  state: () => { running: number; lagSeconds: number },
  counts: () => Promise<Readonly<Record<'working' | 'failing' | 'paused', number>>>,
): ForwarderMetrics {
  const registers = [metrics];
  new Gauge({
    name: 'outrider_forwarding_destinations',
    help: 'Forwarding destinations served by this process',
    registers,
    collect() {
      this.set(state().running);
    },
  });
  new Gauge({
    name: 'outrider_forwarding_lag_seconds',
    help: 'Lag of the slowest forwarding destination of this process: age of the oldest log record it has not read',
    registers,
    collect() {
      this.set(state().lagSeconds);
    },
  });
  new Gauge({
    name: 'outrider_forwarding_registered',
    help: 'Forwarding destinations of all processes, by state: working, failing (the last attempt failed) or paused',
    labelNames: ['state'],
    registers,
    async collect() {
      // The database has a readiness check of its own.
      const counted = await counts().catch(() => null);
      for (const [state, count] of Object.entries(counted ?? {})) this.set({ state }, count);
    },
  });
  const items = new Counter({
    name: 'outrider_forwarding_items_total',
    help: 'Positions and events confirmed by the receiving systems',
    labelNames: ['kind', 'type'],
    registers,
  });
  const refused = new Counter({
    name: 'outrider_forwarding_refused_total',
    help: 'Items that the receiving system refused or its protocol cannot represent',
    labelNames: ['kind'],
    registers,
  });
  const failures = new Counter({
    name: 'outrider_forwarding_failures_total',
    help: 'Batches that were not confirmed and are sent again',
    labelNames: ['kind'],
    registers,
  });
  const gaps = new Counter({
    name: 'outrider_forwarding_gaps_total',
    help: 'Gaps: times a destination needed records that the log no longer had',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of kinds) {
    for (const type of ['position', 'event']) items.inc({ kind, type }, 0);
    for (const counter of [refused, failures, gaps]) counter.inc({ kind }, 0);
  }
  return {
    forwarded: (kind, type, count) => items.inc({ kind, type }, count),
    refused: (kind, count) => refused.inc({ kind }, count),
    failed: (kind) => failures.inc({ kind }),
    lost: (kind) => gaps.inc({ kind }),
  };
}
