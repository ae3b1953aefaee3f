import { Session } from 'node:inspector/promises';
import { getHeapStatistics } from 'node:v8';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** A larger heap holds the fleet and not the start: a collection would take long and free little. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Maximum share of busy time at which a thread has time for a collection. */
const QUIET_SHARE = 0.015;
const CHECK_EVERY_MS = 15_000;
/** Minimum interval between collections: each stops the thread for some 100 ms. */
const PAUSE_MS = 5 * 60_000;
/** Minimum heap growth that is worth a collection. */
const WORTH_BYTES = 16 * 1024 * 1024;

/**
 * Collects the garbage of this thread's start, and returns the memory to the system. While the modules are loaded, V8
 * enlarges its young generation to many megabytes in each thread, and does not shrink it while few objects are made.
 * Takes some 100 ms; to be called when the start is over.
 */
export async function collectStartGarbage(): Promise<void> {
  if (getHeapStatistics().used_heap_size > MOST_BYTES) return;
  await collect();
}

/** Activity of a thread since the last check. */
export interface Quiet {
  /** Share of time that its event loop was busy, 0 to 1. */
  busyShare: number;
  /** Growth of its heap since the last collection. */
  grownBytes: number;
  /** Time since the last collection. */
  elapsedMs: number;
  heapBytes: number;
}

/** Whether the thread should collect the garbage of an earlier busy time. */
export function isCollectionDue({ busyShare, grownBytes, elapsedMs, heapBytes }: Quiet): boolean {
  return busyShare < QUIET_SHARE && grownBytes >= WORTH_BYTES && elapsedMs >= PAUSE_MS && heapBytes <= MOST_BYTES;
}

/**
 * From now on, collects garbage in this thread whenever it has become idle. V8 enlarges the heap under load, and
 * returns memory by collections, which an idle thread does not run.
 */
export function collectWhenQuiet(): void {
  let seen = performance.eventLoopUtilization();
  let keptBytes = getHeapStatistics().total_heap_size;
  let collectedAtMs = Number.NEGATIVE_INFINITY;
  const timer = SYSTEM_CLOCK.every(CHECK_EVERY_MS, async () => {
    const { utilization } = performance.eventLoopUtilization(seen);
    seen = performance.eventLoopUtilization();
    const { total_heap_size: heapBytes } = getHeapStatistics();
    const elapsedMs = SYSTEM_CLOCK.steadyMs() - collectedAtMs;
    if (!isCollectionDue({ busyShare: utilization, grownBytes: heapBytes - keptBytes, elapsedMs, heapBytes })) return;
    await collect();
    collectedAtMs = SYSTEM_CLOCK.steadyMs();
    keptBytes = getHeapStatistics().total_heap_size;
  });
  timer.unref();
}

async function collect(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
