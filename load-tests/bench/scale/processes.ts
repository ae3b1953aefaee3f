import type { Instance } from '../../../services/outrider/src/distributed.fixture.ts';
import { parseMetrics } from '../road/prometheus.ts';

/** The present metrics of a service, by name, see {@link parseMetrics}. */
async function metricsOf({ service, ports }: Instance): Promise<Map<string, number>> {
  const ask = () => fetch(`http://127.0.0.1:${ports.health}/metrics`);
  // The connection kept from the last time may be closed by the other side in the moment in which it is used again.
  const response = await ask().catch(ask);
  if (!response.ok) throw new Error(`/metrics of ${service} answered ${response.status}`);
  return parseMetrics(await response.text());
}

/** One sample, summed over instances. */
export async function summed(instances: readonly Instance[], name: string): Promise<number> {
  const values = await Promise.all(instances.map(async (each) => (await metricsOf(each)).get(name) ?? 0));
  return values.reduce((sum, value) => sum + value, 0);
}
