import type { EventKind, GeofenceId, VehicleId } from '@outrider/domain';
import type { Engine, Parameter } from '../engines/engine.ts';
import { NOT_REMOVED } from '../events/replacement.ts';
import { boundMs } from '../native/time.ts';
import { fleetCondition, fleetParameters, PAGE_LIMITS } from './fleet.ts';
import { cutAt, intervalOf, stepOf } from './intervals.ts';
import { OF_KINDS, OVERLAPS } from './overlapping-events.ts';
import { ofVehicle } from './per-vehicle.ts';

export interface TalliesQuestion {
  /** 1 to {@link MAX_FLEET} vehicles. */
  vehicleIds: readonly VehicleId[];
  kinds: readonly EventKind[];
  /** Unix milliseconds: nothing before it counts. */
  fromMs: number;
  /** Unix milliseconds: nothing after it counts. */
  toMs: number;
  /**
   * Unix milliseconds at which time is cut into intervals, increasing: at least two, from `fromMs` or before to `toMs`
   * or after.
   */
  cuts: readonly number[];
  /** For each interval, the index of the bucket that its tallies are summed in. Undefined: each has its own. */
  places?: readonly number[];
  /** Among events about a geofence, only those about one of these; null: all. */
  geofenceIds: readonly GeofenceId[] | null;
  /** Unix milliseconds: events that have not ended count up to this time, unless `knownUntilMs` has an earlier one. */
  nowMs: number;
  /**
   * Unix milliseconds up to which less is known of some vehicles. Their open events count up to then, except silence
   * (`offline`). Default: all is known up to `nowMs`.
   */
  knownUntilMs?: ReadonlyMap<VehicleId, number>;
  /** Whether fuel is summed. Default false: it takes a quarter of a tally's cost. */
  withFuel?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Sums of one vehicle's events of one kind in one bucket. */
export interface Tally {
  vehicleId: VehicleId;
  kind: EventKind;
  place: number;
  /** Number of events that started in it. */
  count: number;
  /** Duration of the events within it. */
  durationMs: number;
  /** Totals of trips that lie completely in one interval; trips that cross a cut are in {@link Tallies.crossing}. */
  distanceM: number;
  movingMs: number;
  /** Of trips (as above), and of stops that lie in one interval, as far as it is known. */
  idlingMs: number;
  /** Null where none has a speed. */
  peakKmh: number | null;
  /**
   * For trips and stops that started in it and whose fuel is known: litres used, distance, engine running time. 0
   * unless requested, as the next.
   */
  fuelUsedL: number;
  fuelDistanceM: number;
  fuelEngineMs: number;
  /** Volume of refuellings and drains that started in it. */
  volumeL: number;
}

/** A trip that a cut divides, or that has not ended: its positions show how its totals are distributed. */
export interface CrossingTrip {
  vehicleId: VehicleId;
  startedAtMs: number;
  /** Its end; if it has not ended, the time up to which it is known. */
  untilMs: number;
  /** True if the trip has not ended: its totals are not those up to `untilMs`, and the archive gets them at its end. */
  lasts: boolean;
  distanceM: number;
  movingMs: number;
  idlingMs: number;
  peakKmh: number | null;
}

export interface Tallies {
  tallies: Tally[];
  crossing: CrossingTrip[];
}

/** Silence (`offline`) is known without records; everything else is known from records. */
const LASTS_UNTIL = `if(kind = 'offline', {nowMs:Int64}, ${ofVehicle('untils')})`;

const FUEL = `sumIf(ifNull(used_l, 0), begins), sumIf(ifNull(distance_m, 0), begins AND used_l IS NOT NULL),
  sumIf(ifNull(moving_ms, 0) + ifNull(idling_ms, 0), begins AND used_l IS NOT NULL), sumIf(ifNull(volume_l, 0), begins)`;

/**
 * Sums many vehicles' events, interval by interval, inside ClickHouse: it returns a row for each vehicle, kind and
 * bucket, however many events there were.
 *
 * @throws {RangeError} when there are fewer than two cuts, or too many vehicles
 */
export async function tallies(engine: Engine, question: TalliesQuestion): Promise<Tallies> {
  const {
    vehicleIds,
    kinds,
    fromMs,
    toMs,
    cuts,
    places,
    geofenceIds,
    nowMs,
    knownUntilMs,
    withFuel = false,
    signal,
  } = question;
  if (!((cuts[0] ?? Number.NaN) <= fromMs && (cuts.at(-1) ?? Number.NaN) >= toMs && fromMs < toMs))
    throw new RangeError('The cuts must span the time range');
  if (vehicleIds.length === 0 || kinds.length === 0) return { tallies: [], crossing: [] };
  const parameters: Record<string, Parameter> = {
    ...fleetParameters(vehicleIds),
    kinds,
    fromMs: boundMs(fromMs),
    toMs: boundMs(toMs),
    nowMs: boundMs(nowMs),
    untils: vehicleIds.map((id) => boundMs(Math.min(nowMs, knownUntilMs?.get(id) ?? nowMs))),
    ...(stepOf(cuts) === null && { cuts: cuts.map(boundMs) }),
    ...(places && { places }),
    ...(geofenceIds && { geofenceIds }),
  };
  const spans = `SELECT vehicle_id, kind, ended_at IS NULL AS lasts,
      toUnixTimestamp64Milli(started_at) AS start_ms,
      greatest(start_ms, if(lasts, ${LASTS_UNTIL}, toUnixTimestamp64Milli(assumeNotNull(ended_at)))) AS end_ms,
      greatest(start_ms, {fromMs:Int64}) AS clipped_start, least(end_ms, {toMs:Int64}) AS clipped_end,
      ${intervalOf('clipped_start', cuts)} AS first_interval,
      ${intervalOf('greatest(clipped_start, clipped_end - 1)', cuts)} AS last_interval,
      first_interval = last_interval AND NOT lasts AND start_ms >= {fromMs:Int64} AND end_ms <= {toMs:Int64} AS whole,
      distance_m, moving_ms, idling_ms, peak_kmh
      ${withFuel ? ", volume_l, if(kind IN ('trip', 'idling'), fuel_used_l, NULL) AS used_l" : ''}
    FROM events FINAL ${OF_KINDS}
    WHERE ${fleetCondition} AND ${OVERLAPS} AND ${NOT_REMOVED}
      ${geofenceIds ? 'AND (geofence_id IS NULL OR geofence_id IN {geofenceIds:Array(UUID)})' : ''}`;
  const about = { parameters, limits: PAGE_LIMITS, queue: 'report', signal } as const;
  const rows = (await engine.select({
    ...about,
    sql: `SELECT vehicle_id, kind, ${places ? '{places:Array(Int32)}[interval]' : 'interval - 1'} AS place,
        toUInt32(countIf(interval = first_interval AND start_ms >= {fromMs:Int64})),
        toFloat64(sum(greatest(0, least(clipped_end, ${cutAt('interval + 1', cuts)})
          - greatest(clipped_start, ${cutAt('interval', cuts)})))),
        sumIf(ifNull(distance_m, 0), whole), sumIf(ifNull(moving_ms, 0), whole), sumIf(ifNull(idling_ms, 0), whole),
        maxIf(peak_kmh, whole),
        groupArrayIf(tuple(start_ms, end_ms, lasts, ifNull(distance_m, 0), ifNull(moving_ms, 0), ifNull(idling_ms, 0), peak_kmh),
          kind = 'trip' AND NOT whole AND interval = first_interval),
        ${withFuel ? FUEL : '0, 0, 0, 0'}
      FROM (SELECT *, arrayJoin(range(first_interval, last_interval + 1)) AS interval,
        interval = first_interval AND start_ms >= {fromMs:Int64} AS begins FROM (${spans}))
      GROUP BY vehicle_id, kind, place ORDER BY vehicle_id, place, kind`,
  })) as TallyRow[];
  return {
    tallies: rows.map((row) => ({
      vehicleId: row[0],
      kind: row[1],
      place: row[2],
      count: row[3],
      durationMs: row[4],
      distanceM: row[5],
      movingMs: row[6],
      idlingMs: row[7],
      peakKmh: row[8],
      fuelUsedL: row[10],
      fuelDistanceM: row[11],
      fuelEngineMs: row[12],
      volumeL: row[13],
    })),
    crossing: rows.flatMap((row) =>
      row[9].map((trip) => ({
        vehicleId: row[0],
        startedAtMs: trip[0],
        untilMs: trip[1],
        lasts: Boolean(trip[2]),
        distanceM: trip[3],
        movingMs: trip[4],
        idlingMs: trip[5],
        peakKmh: trip[6],
      })),
    ),
  };
}

/** A row of the tallies, with the divided trips that began in its interval (or extend into the first). */
type TallyRow = [
  vehicleId: VehicleId,
  kind: EventKind,
  place: number,
  count: number,
  durationMs: number,
  distanceM: number,
  movingMs: number,
  idlingMs: number,
  peakKmh: number | null,
  crossing: [
    startedAtMs: number,
    untilMs: number,
    lasts: boolean | number,
    distanceM: number,
    movingMs: number,
    idlingMs: number,
    peakKmh: number | null,
  ][],
  fuelUsedL: number,
  fuelDistanceM: number,
  fuelEngineMs: number,
  volumeL: number,
];
