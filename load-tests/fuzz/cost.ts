import { getHeapStatistics } from 'node:v8';

/** What one input took. */
export interface Cost {
  /** Processor time of this thread: what else the machine does is not in it. */
  cpuMs: number;
  /** By how much the heap and its buffers grew; less than that where a collection came in between. */
  heapBytes: number;
}

/**
 * What an input may cost: so much for any, and so much for each of its bytes. Generous: real ones take a hundredth of
 * it.
 */
const CPU_MS = 100;
const CPU_MS_PER_KB = 25;
const HEAP_BYTES = 32 * 1024 * 1024;
const HEAP_BYTES_PER_BYTE = 4096;
/**
 * A collection, or code that is compiled, may fall into any one attempt: an input is expensive when all of them are.
 */
const REPEATS = 5;

/** Runs `work` and measures it. */
export async function measured<T>(work: () => T | Promise<T>): Promise<{ result: T; cost: Cost }> {
  const heapBefore = heapBytes();
  const cpuBefore = process.threadCpuUsage();
  const result = await work();
  const { user, system } = process.threadCpuUsage(cpuBefore);
  return { result, cost: { cpuMs: (user + system) / 1000, heapBytes: Math.max(0, heapBytes() - heapBefore) } };
}

function heapBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** What an input of so many bytes may cost. */
export function costLimit(bytes: number): Cost {
  return {
    cpuMs: CPU_MS + (CPU_MS_PER_KB * bytes) / 1024,
    heapBytes: HEAP_BYTES + HEAP_BYTES_PER_BYTE * bytes,
  };
}

/**
 * Judges what an input cost. One that went over the limit is tried again: the least of all attempts counts, so that
 * noise is never a finding.
 *
 * @param again tries the input once more
 * @returns what is wrong; null where nothing is
 */
export async function judgeCost(first: Cost, bytes: number, again: () => Promise<Cost>): Promise<string | null> {
  const limit = costLimit(bytes);
  const least = { ...first };
  for (let nth = 0; ; nth++) {
    if (least.cpuMs <= limit.cpuMs && least.heapBytes <= limit.heapBytes) return null;
    if (nth === REPEATS) break;
    const cost = await again();
    least.cpuMs = Math.min(least.cpuMs, cost.cpuMs);
    least.heapBytes = Math.min(least.heapBytes, cost.heapBytes);
  }
  return least.cpuMs > limit.cpuMs
    ? `slow: an input of ${bytes} bytes takes ${Math.round(least.cpuMs)} ms of processor time each time, and may take ${Math.round(limit.cpuMs)} ms`
    : `memory: an input of ${bytes} bytes takes ${megabytes(least.heapBytes)} MB each time, and may take ${megabytes(limit.heapBytes)} MB`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
