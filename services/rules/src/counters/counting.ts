import type { VehicleId, VehicleStatus } from '@outrider/domain';
import {
  type CountedBy,
  type CounterRecord,
  type CounterRun,
  type CounterState,
  countOn,
  freshCounters,
  goesBySensors,
} from '@outrider/engine';
import type { CountedOn, Counters, CustomCounters, KeptCounters } from '@outrider/registry';

/** The part of the archive that counters need. */
export interface CountedHistory {
  /** @param withAttributes whether to return whole records: some counters are computed from sensors */
  countedTracks(
    questions: readonly { vehicleId: VehicleId; afterMs: number }[],
    limit: number,
    withAttributes?: boolean,
  ): Promise<{ positions: readonly CounterRecord[]; hasMore: boolean }[]>;
}

export type KeptCountersStore = Pick<Counters, 'kept' | 'dayBefore' | 'marksOf' | 'save' | 'stale'>;

/** Lookup of the custom counters that apply to vehicles. */
export type CustomCountersStore = Pick<CustomCounters, 'of'>;

/** Vehicles per archive query, and records per vehicle. */
const AT_ONCE = 50;
const PAGE_RECORDS = 1500;
/** Whole records are large: fewer vehicles are queried at once to limit memory. */
const WHOLE_AT_ONCE = 10;

/** Where the counting of one vehicle resumes. */
interface Start {
  vehicleId: VehicleId;
  kept: KeptCounters | null;
  contactAtMs: number;
  state: CounterState;
  custom: readonly CountedBy[];
}

/**
 * Resumes the counting of vehicles: each from where it was left, or from before data that came late.
 *
 * Older data that comes during the counting changes the revision of a vehicle. Then nothing is stored of the vehicle,
 * and it is counted again.
 *
 * @param statuses read before the archive was known to hold all data that they result from
 * @param onCounted called with vehicles whose counters are up to date now, and were not before
 * @returns vehicles that are not completely counted yet
 */
export async function countVehicles(
  history: CountedHistory,
  counters: KeptCountersStore,
  customCounters: CustomCountersStore,
  statuses: readonly Pick<VehicleStatus, 'vehicleId' | 'lastContactAtMs'>[],
  check: () => void,
  onCounted: (vehicleIds: readonly VehicleId[]) => void = () => {},
): Promise<VehicleId[]> {
  const unfinished: VehicleId[] = [];
  for (let at = 0; at < statuses.length; at += AT_ONCE) {
    check();
    const starts = await startsOf(counters, customCounters, statuses.slice(at, at + AT_ONCE));
    const [whole = [], others = []] = [true, false].map((is) =>
      starts.filter(({ custom }) => goesBySensors(custom) === is),
    );
    unfinished.push(...(await countStarts(history, counters, others, false)));
    for (let nth = 0; nth < whole.length; nth += WHOLE_AT_ONCE) {
      check();
      unfinished.push(...(await countStarts(history, counters, whole.slice(nth, nth + WHOLE_AT_ONCE), true)));
    }
    const open = new Set(unfinished);
    const finished = starts.flatMap(({ vehicleId }) => (open.has(vehicleId) ? [] : [vehicleId]));
    if (finished.length > 0) onCounted(finished);
  }
  return unfinished;
}

/** @returns vehicles that are not completely counted yet */
async function countStarts(
  history: CountedHistory,
  counters: KeptCountersStore,
  starts: readonly Start[],
  withAttributes: boolean,
): Promise<VehicleId[]> {
  if (starts.length === 0) return [];
  const tracks = await history.countedTracks(
    starts.map(({ vehicleId, state }) => ({ vehicleId, afterMs: state.throughMs })),
    PAGE_RECORDS,
    withAttributes,
  );
  const asked = await counters.marksOf(starts.map(({ vehicleId }) => vehicleId));
  const counted: CountedOn[] = [];
  for (const [nth, start] of starts.entries()) {
    const track = tracks[nth];
    if (track === undefined) continue;
    const { state, custom } = start;
    const marks = (asked.get(start.vehicleId) ?? []).filter((atMs) => atMs >= state.throughMs);
    const run = countOn(state, track.positions, marks, custom, track.hasMore);
    counted.push(countedOn(start, run, marks, track.hasMore));
  }
  const saved = new Set(await counters.save(counted));
  return starts.flatMap(({ vehicleId }, nth) => (tracks[nth]?.hasMore || !saved.has(vehicleId) ? [vehicleId] : []));
}

/** Starting points of the vehicles with new or late data since their last count. */
async function startsOf(
  counters: KeptCountersStore,
  customCounters: CustomCountersStore,
  statuses: readonly Pick<VehicleStatus, 'vehicleId' | 'lastContactAtMs'>[],
): Promise<Start[]> {
  const kept = new Map(
    (await counters.kept(statuses.map(({ vehicleId }) => vehicleId))).map((each) => [each.vehicleId, each]),
  );
  // Read after the revisions: a change of a counter meanwhile changes the revision, and the count is not stored.
  const custom = await customCounters.of(statuses.map(({ vehicleId }) => vehicleId));
  const starts: Start[] = [];
  for (const { vehicleId, lastContactAtMs: contactAtMs } of statuses) {
    const known = kept.get(vehicleId) ?? null;
    if (known !== null && known.staleFromMs === null && known.contactAtMs >= contactAtMs) continue;
    const isStale = known?.staleFromMs != null;
    const text = isStale ? await counters.dayBefore(vehicleId, known.staleFromMs ?? 0) : (known?.state ?? '');
    starts.push({
      vehicleId,
      kept: known,
      contactAtMs,
      state: text ? (JSON.parse(text) as CounterState) : freshCounters(),
      custom: custom.get(vehicleId) ?? [],
    });
  }
  return starts;
}

function countedOn(
  { vehicleId, kept, contactAtMs, state }: Start,
  run: CounterRun,
  marks: readonly number[],
  hasMore: boolean,
): CountedOn {
  const known = marks.flatMap((atMs) => {
    const sums = run.marked.get(atMs) ?? (atMs >= run.throughMs && !hasMore ? run.sums : null);
    return sums === null ? [] : [{ atMs, sums }];
  });
  return {
    vehicleId,
    revision: kept?.revision ?? 0,
    // With more records to count, the counters are not up to date with the last contact yet.
    contactAtMs: hasMore ? 0 : contactAtMs,
    throughMs: run.throughMs,
    state: JSON.stringify(run.settled),
    sums: run.sums,
    first: run.first,
    fromMs: state.throughMs + 1,
    isRecount: kept?.staleFromMs != null,
    days: run.days.map((day) => ({ throughMs: day.throughMs, state: JSON.stringify(day) })),
    marks: known,
  };
}
