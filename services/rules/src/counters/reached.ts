import {
  COUNTERS,
  type CounterKey,
  type CounterSums,
  readSteps,
  readSum,
  sumOf,
  type VehicleId,
} from '@outrider/domain';
import { type CounterState, countUntil, freshCounters, goesBySensors, type Reached, sumsOf } from '@outrider/engine';
import type { Counters } from '@outrider/registry';
import type { CountedHistory, CustomCountersStore } from './counting.ts';

const PAGE_RECORDS = 1500;

export interface ReachedSources {
  history: CountedHistory;
  counters: Pick<Counters, 'days' | 'corrections'>;
  customCounters: CustomCountersStore;
}

/**
 * Finds when a sum of a vehicle was first at least `value`: with a record, or with a reading that people entered. The
 * search starts from the last stored state below `value`.
 *
 * @returns null while the sum is below `value`
 */
export async function findReached(
  { history, counters, customCounters }: ReachedSources,
  vehicleId: VehicleId,
  counter: CounterKey,
  value: number,
  check: () => void,
): Promise<Reached | null> {
  if ((COUNTERS as readonly string[]).includes(counter))
    return byRecords(history, counters, { vehicleId, custom: [] }, (sums) => sumOf(counter, sums) >= value, check);
  const custom = ((await customCounters.of([vehicleId])).get(vehicleId) ?? []).filter(({ id }) => id === counter);
  const [counted] = custom;
  if (counted === undefined) return null;
  const steps = readSteps(counted, await counters.corrections(vehicleId));
  const read = steps.find(({ sum, counted: before }) => sum + (before ?? 0) >= value);
  const byReading = read === undefined ? null : { fixTimeMs: read.atMs, fix: null };
  if (!goesBySensors(custom)) return byReading;
  const isReached = (sums: CounterSums, atMs: number) => sumOf(counter, sums) + readSum(steps, atMs) >= value;
  const byRecord = await byRecords(history, counters, { vehicleId, custom }, isReached, check);
  if (byRecord === null || byReading === null) return byRecord ?? byReading;
  return byReading.fixTimeMs <= byRecord.fixTimeMs ? byReading : byRecord;
}

async function byRecords(
  history: CountedHistory,
  counters: Pick<Counters, 'days'>,
  { vehicleId, custom }: { vehicleId: VehicleId; custom: Parameters<typeof countUntil>[3] },
  isReached: (sums: CounterSums, atMs: number) => boolean,
  check: () => void,
): Promise<Reached | null> {
  let state: CounterState | null = null;
  const { states, isCut } = await counters.days(vehicleId);
  for (const day of states) {
    const next = JSON.parse(day) as CounterState;
    // Sums never fall.
    if (isReached(sumsOf(next), next.throughMs)) {
      // The record that first made the sum this large was erased.
      if (state === null && isCut) return { fixTimeMs: next.throughMs, fix: null };
      break;
    }
    state = next;
  }
  state ??= freshCounters();
  const isWhole = goesBySensors(custom ?? []);
  for (;;) {
    check();
    const [track] = await history.countedTracks([{ vehicleId, afterMs: state.throughMs }], PAGE_RECORDS, isWhole);
    if (track === undefined) return null;
    const run = countUntil(state, track.positions, isReached, custom);
    if (run.reached !== null || !track.hasMore) return run.reached;
    state = run.state;
  }
}
