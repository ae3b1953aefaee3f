import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Metrics of several threads as one Prometheus text: counters and gauges of the same name and labels are added up. */
export async function mergedMetrics(snapshots: readonly MetricObject[][]): Promise<string> {
  return AggregatorRegistry.aggregate(snapshots as MetricObject[][]).metrics();
}

/** What one thread counted, in a form that can be sent to another thread. */
export function snapshotOf(registry: Registry): Promise<MetricObject[]> {
  return registry.getMetricsAsJSON();
}

export type MetricsSnapshot = MetricObject[];
