import { expect, test } from 'vitest';
import { measureThread, mergedMetrics, snapshotOf } from './metrics.ts';
import { Metrics } from './prometheus.ts';

test('the memory of threads stays apart when their metrics are put together', async () => {
  const threads = ['main', 'rules'].map((name) => {
    const registry = new Metrics();
    measureThread(name, registry);
    return registry;
  });
  const text = await mergedMetrics(await Promise.all(threads.map(snapshotOf)));
  for (const thread of ['main', 'rules'])
    expect(text).toMatch(
      new RegExp(`^outrider_thread_memory_bytes\\{thread="${thread}",kind="heap"\\} [1-9]\\d+$`, 'm'),
    );
  const held = [Buffer.allocUnsafeSlow(8_000_000)];
  const buffers = /thread="main",kind="buffers"\} (\d+)/.exec(
    await mergedMetrics([await snapshotOf(threads[0] as Metrics)]),
  );
  expect(Number(buffers?.[1])).toBeGreaterThanOrEqual(held[0]?.length ?? 0);
});
