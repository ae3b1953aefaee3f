import type { VehicleId } from '@outrider/domain';
import { type CounterState, countOn } from '@outrider/engine';
import type { CountedOn, HistoryLimit, Registry } from '@outrider/registry';
import type { Warehouse } from '@outrider/warehouse';

/** Vehicles of one query to the archive; below, the records of each. */
const AT_ONCE = 10;
const MAX_RECORDS = 1500;

/**
 * Stores the final counter values of vehicles before their records are erased. Otherwise the newest records would be
 * counted only together with later ones. It concerns vehicles whose counter state is from before their limit, because
 * they sent nothing since, or a jump was in doubt.
 *
 * @returns vehicles that are being counted, whose values were not stored
 */
export async function settleCounters(
  { counters, customCounters }: Pick<Registry, 'counters' | 'customCounters'>,
  archive: Pick<Warehouse, 'countedTracks'>,
  limits: readonly HistoryLimit[],
): Promise<Set<VehicleId>> {
  const beforeMs = new Map(limits.map((each) => [each.vehicleId, each.beforeMs]));
  const kept = (await counters.kept([...beforeMs.keys()])).filter(
    ({ vehicleId, state }) =>
      state !== '' && (JSON.parse(state) as CounterState).throughMs < (beforeMs.get(vehicleId) ?? 0),
  );
  const unsettled = new Set<VehicleId>();
  for (let at = 0; at < kept.length; at += AT_ONCE) {
    const some = kept.slice(at, at + AT_ONCE);
    const states = some.map(({ state }) => JSON.parse(state) as CounterState);
    const questions = some.map(({ vehicleId }, nth) => ({ vehicleId, afterMs: states[nth]?.throughMs ?? 0 }));
    const tracks = await archive.countedTracks(questions, MAX_RECORDS, true);
    const custom = await customCounters.of(some.map(({ vehicleId }) => vehicleId));
    const counted = some.flatMap((each, nth): CountedOn[] => {
      const [state, track] = [states[nth], tracks[nth]];
      if (state === undefined || track === undefined || track.positions.length === 0) return [];
      const run = countOn(state, track.positions, [], custom.get(each.vehicleId) ?? [], true);
      const { vehicleId, revision, contactAtMs } = each;
      return [
        {
          ...{ vehicleId, revision, contactAtMs: track.hasMore ? 0 : contactAtMs, throughMs: run.throughMs },
          ...{ state: JSON.stringify(run.settled), sums: run.sums, first: run.first, fromMs: state.throughMs + 1 },
          ...{ isRecount: false, marks: [], days: [] },
        },
      ];
    });
    const saved = new Set(await counters.save(counted));
    for (const { vehicleId } of counted) if (!saved.has(vehicleId)) unsettled.add(vehicleId);
    for (const [nth, { vehicleId }] of some.entries()) if (tracks[nth]?.hasMore) unsettled.add(vehicleId);
  }
  return unsettled;
}
