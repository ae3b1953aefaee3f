import { expect, test } from 'vitest';
import { type Cost, costLimit, judgeCost, measured } from './cost.ts';

const cheap: Cost = { cpuMs: 1, heapBytes: 1000 };
const slow: Cost = { cpuMs: 5000, heapBytes: 1000 };
const large: Cost = { cpuMs: 1, heapBytes: 1e9 };

/** Costs one after the other, the last one again and again. */
function attempts(...costs: Cost[]): { again: () => Promise<Cost>; made: () => number } {
  let made = 0;
  return { again: async () => costs[Math.min(made++, costs.length - 1)] ?? cheap, made: () => made };
}

test('an input within its limits is not tried again', async () => {
  const { again, made } = attempts(slow);
  expect(await judgeCost(cheap, 100, again)).toBeNull();
  expect(made()).toBe(0);
});

test('an input that was expensive once is no finding: the machine may have been busy', async () => {
  expect(await judgeCost(slow, 100, attempts(slow, slow, cheap).again)).toBeNull();
  expect(await judgeCost(large, 100, attempts(large, cheap).again)).toBeNull();
  // One attempt slow, another one large: neither is the input's doing.
  expect(await judgeCost(slow, 100, attempts(large).again)).toBeNull();
});

test('an input that is expensive each time is a finding, and says by what', async () => {
  expect(await judgeCost(slow, 100, attempts(slow).again)).toMatch(/^slow: an input of 100 bytes takes 5000 ms/);
  expect(await judgeCost(large, 100, attempts(large).again)).toMatch(/^memory: an input of 100 bytes takes 954 MB/);
});

test('longer inputs may cost more, in proportion', () => {
  const [short, long] = [costLimit(0), costLimit(64 * 1024)];
  expect(long.cpuMs).toBe(short.cpuMs + 64 * 25);
  expect(long.heapBytes).toBeGreaterThan(short.heapBytes);
});

test('what is measured is the work of this thread and the memory that it keeps', async () => {
  const idle = await measured(() => new Promise((resolve) => setTimeout(resolve, 300)));
  expect(idle.cost.cpuMs).toBeLessThan(250);
  const busy = await measured(() => {
    const begun = process.threadCpuUsage();
    while (process.threadCpuUsage(begun).user < 100_000);
    return Buffer.alloc(64 * 1024 * 1024);
  });
  expect(busy.cost.cpuMs).toBeGreaterThanOrEqual(100);
  expect(busy.cost.heapBytes).toBeGreaterThan(60 * 1024 * 1024);
  expect(busy.result).toHaveLength(64 * 1024 * 1024);
});
