import { Session } from 'node:inspector/promises';
import { getHeapStatistics } from 'node:v8';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Above this, what lives is the fleet and not the start: a collection would take long and free little. */
const MOST_BYTES = 256 * 1024 * 1024;

/** A thread that is busy for less of the time has time for a collection. */
const QUIET_SHARE = 0.015;
const CHECK_EVERY_MS = 15_000;
/** A collection stops the thread for some 100 ms. */
const PAUSE_MS = 5 * 60_000;
/** Less is not worth it. */
const WORTH_BYTES = 16 * 1024 * 1024;

/**
 * Collects what the start of this thread left behind, and gives the memory back to the system. While the modules are
 * loaded, V8 enlarges its space for young objects to many megabytes in each thread, and does not make it smaller while
 * few objects are made. Takes some 100 ms; to be called when the start is over.
 */
export async function collectStartGarbage(): Promise<void> {
  if (getHeapStatistics().used_heap_size > MOST_BYTES) return;
  await collect();
}

/** What a thread did since it was checked last. */
export interface Quiet {
  /** Of the time that its event loop was busy, 0 to 1. */
  busyShare: number;
  /** By how much its heap has grown since the last collection. */
  grownBytes: number;
  /** Since the last collection. */
  elapsedMs: number;
  heapBytes: number;
}

/** Is the thread to collect what a busy time before left behind? */
export function isCollectionDue({ busyShare, grownBytes, elapsedMs, heapBytes }: Quiet): boolean {
  return busyShare < QUIET_SHARE && grownBytes >= WORTH_BYTES && elapsedMs >= PAUSE_MS && heapBytes <= MOST_BYTES;
}

/**
 * From now on, collects in this thread whenever it became quiet. V8 enlarges the heap under a load, and gives memory
 * back by collections that a thread with nothing to do does not make.
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
