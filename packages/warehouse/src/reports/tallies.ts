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
  /** Unix milliseconds: nothing counts before it … */
  fromMs: number;
  /** … and nothing after it. */
  toMs: number;
  /**
   * Unix milliseconds at which time is cut into intervals, growing: at least two, from `fromMs` or before to `toMs` or
   * after.
   */
  cuts: readonly number[];
  /** For each interval, the place that its tallies are added up in; undefined: its own. */
  places?: readonly number[];
  /** Of events about a geofence, those about one of these alone; null: all. */
  geofenceIds: readonly GeofenceId[] | null;
  /** Unix milliseconds: what still lasts, lasts until then, … */
  nowMs: number;
  /**
   * … but for vehicles of which less is known: until then, in Unix milliseconds, silence (`offline`) excepted. Default:
   * all is known up to `nowMs`.
   */
  knownUntilMs?: ReadonlyMap<VehicleId, number>;
  /** Whether fuel is added up. Default false: a quarter of what a tally costs. */
  withFuel?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What one vehicle's events of one kind come to in one place. */
export interface Tally {
  vehicleId: VehicleId;
  kind: EventKind;
  place: number;
  /** Events that started there. */
  count: number;
  /** How long they lasted, as far as they did so there. */
  durationMs: number;
  /** Totals of trips that lie in one interval altogether; what crosses a cut is in {@link Tallies.crossing}. */
  distanceM: number;
  movingMs: number;
  /** Of trips (as above), and of stops as far as is known of those in one interval. */
  idlingMs: number;
  /** Null where none has a speed. */
  peakKmh: number | null;
  /**
   * Of trips and stops that started there and whose fuel is known: litres used, how far, how long the engine ran. 0
   * where nobody asked for it, as the next.
   */
  fuelUsedL: number;
  fuelDistanceM: number;
  fuelEngineMs: number;
  /** Of refuellings and drains that started there. */
  volumeL: number;
}

/** A trip that a cut divides, or that still lasts: its positions show how much of its totals lies where. */
export interface CrossingTrip {
  vehicleId: VehicleId;
  startedAtMs: number;
  /** Its end; while it lasts, the moment up to which it is known. */
  untilMs: number;
  /** True where its totals are not those up to `untilMs`: the archive has them when it ends. */
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

/** That nothing comes is known without a record; all else is known from records. */
const LASTS_UNTIL = `if(kind = 'offline', {nowMs:Int64}, ${ofVehicle('untils')})`;

const FUEL = `sumIf(ifNull(used_l, 0), begins), sumIf(ifNull(distance_m, 0), begins AND used_l IS NOT NULL),
  sumIf(ifNull(moving_ms, 0) + ifNull(idling_ms, 0), begins AND used_l IS NOT NULL), sumIf(ifNull(volume_l, 0), begins)`;

/**
 * What many vehicles' events come to, interval by interval, added up where the events are: a row for each vehicle, kind
 * and place, however many events there were.
 *
 * @throws {RangeError} when there are less than two cuts, or too many vehicles
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

/** A row of the tallies, with the trips that began in its interval (or came into the first) and are divided. */
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
