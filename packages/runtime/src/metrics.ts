import { AggregatorRegistry, type MetricObject } from 'prom-client';
import { isExhausted } from './health/descriptor-watch.ts';
import { Gauge, type Metrics } from './prometheus.ts';

/** Metrics of several threads as one Prometheus text: counters and gauges of the same name and labels are added up. */
export async function mergedMetrics(snapshots: readonly MetricObject[][]): Promise<string> {
  return AggregatorRegistry.aggregate(snapshots as MetricObject[][]).metrics();
}

/** Sums of the counters and histograms of threads that have ended. Their gauges are dropped. */
export async function summedCounts(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const all = await AggregatorRegistry.aggregate(snapshots as MetricObject[][]).getMetricsAsJSON();
  return all.filter(({ type }) => `${type}` === 'counter' || `${type}` === 'histogram');
}

/** Metrics of one thread, in a form that can be sent to another thread. */
export function snapshotOf(registry: Metrics): Promise<MetricObject[]> {
  return registry.getMetricsAsJSON();
}

export type MetricsSnapshot = MetricObject[];

/**
 * Measures the memory of a thread: metrics of the process do not show which of its threads uses memory.
 *
 * @param thread its name
 */
export function measureThread(thread: string, registry: Metrics): void {
  new Gauge({
    name: 'outrider_thread_memory_bytes',
    help: 'Memory of a thread: `heap`, the live objects; `heap-reserved`, the reserved heap; `buffers`, array buffers outside the heap',
    labelNames: ['thread', 'kind'],
    registers: [registry],
    collect() {
      const usage = memoryUsage();
      if (usage === null) return;
      const { heapUsed, heapTotal, arrayBuffers } = usage;
      this.set({ thread, kind: 'heap' }, heapUsed);
      this.set({ thread, kind: 'heap-reserved' }, heapTotal);
      this.set({ thread, kind: 'buffers' }, arrayBuffers);
    },
  });
}

/** Null while no file descriptor is free, which this needs: the other metrics are then needed most. */
function memoryUsage(): NodeJS.MemoryUsage | null {
  try {
    return process.memoryUsage();
  } catch (error) {
    if (isExhausted(error)) return null;
    throw error;
  }
}
