import { pagesOf, type VehicleId } from '@outrider/domain';
import { JumpJudge } from '@outrider/engine';
import { type ArchivedPosition, LIST_FLEET, type PositionsCursor } from '@outrider/warehouse';
import { z } from 'zod';
import { type TrackCursor, trackCursor, type VehicleCursor, vehicleCursor } from './cursors.ts';
import { type Judged, judged, judgesAt } from './kinds/jumps.ts';
import {
  type Column,
  fleetFrom,
  type Page,
  type Question,
  type ReportKind,
  type ReportSources,
  ROWS_AT_ONCE,
  type Row,
} from './report.ts';
import { Simplifier } from './simplify.ts';

const COLUMNS = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
  { name: 'fixTime', type: 'time', always: true },
  { name: 'latitude', type: 'number', always: true },
  { name: 'longitude', type: 'number', always: true },
  { name: 'valid', type: 'flag', always: true, about: 'False if the terminal marks the fix as invalid.' },
  {
    name: 'rejection',
    type: 'text',
    values: ['jump'],
    about:
      '`jump`: the position did not move the vehicle, because reaching it in the time would have needed more than 500 km/h. No value for positions that moved the vehicle, and for those that the terminal marks as invalid.',
  },
  { name: 'speedKmh', type: 'number', total: 'max' },
  { name: 'courseDeg', type: 'whole' },
  { name: 'altitudeM', type: 'whole' },
  { name: 'satellites', type: 'whole' },
  { name: 'ignition', type: 'flag' },
  { name: 'odometerM', type: 'whole' },
  { name: 'supplyV', type: 'number' },
  { name: 'fuelL', type: 'number' },
  { name: 'alarms', type: 'json', always: true },
  { name: 'attributes', type: 'json', about: 'Further values of the record, under the names that the protocol uses.' },
] as const satisfies readonly Column[];

/** Indexes of the values in a row of a track. */
export const TRACK_PLACES = {
  vehicleId: 0,
  vehicleName: 1,
  fixTime: 2,
  latitude: 3,
  longitude: 4,
  valid: 5,
  rejection: 6,
  speedKmh: 7,
  altitudeM: 9,
};

/**
 * Positions as they came, with jumps marked. With `maxPoints`, only the most significant ones, one vehicle at a time.
 */
export const trackReport: ReportKind = {
  name: 'track',
  summary: 'Positions in a time range, ordered by vehicle and time.',
  description:
    'Rejected positions are in no track, with one exception: a position that the vehicle cannot have reached in the time is included with `rejection` `jump`. It does not move the vehicle. Events are derived with the same check. GeoJSON, GPX and KML, and tracks with `maxPoints`, leave out jumps and positions that the terminal marks as invalid.',
  parameters: { maxPoints: true },
  isTrack: true,
  columns: COLUMNS,
  cursor: z.union([trackCursor, vehicleCursor]),
  page: (sources, question, after, limit) =>
    question.maxPoints === null
      ? plainPage(sources, question, after as TrackCursor | null, limit)
      : simplePage(sources, question, question.maxPoints, after as VehicleCursor | null),
};

async function plainPage(
  { archive }: ReportSources,
  question: Question,
  cursor: TrackCursor | null,
  limit: number,
): Promise<Page> {
  const { part, following } = fleetFrom(question.vehicles, cursor?.fleet ?? null, LIST_FLEET);
  const [first] = part;
  if (first === undefined) return { rows: [], next: null };
  const after = cursor?.after ?? null;
  const { fromMs, toMs, signal } = question;
  const page = await archive.positions({
    vehicleIds: part.map(({ id }) => id),
    fromMs,
    toMs,
    limit,
    after: after && { vehicleId: after.vehicleId, fixTimeMs: after.fixTimeMs },
    signal,
  });
  const begun = new Set(page.positions.map(({ vehicleId }) => vehicleId));
  if (after) begun.delete(after.vehicleId);
  const judges = await judgesAt(archive, [...begun], fromMs, { queue: 'report', signal });
  if (after) judges.set(after.vehicleId, new JumpJudge(after.judged));
  const names = new Map(part.map(({ id, name }) => [id, name]));
  const rows = page.positions.map((position) => {
    const judge = judges.get(position.vehicleId);
    return rowOf(position, names.get(position.vehicleId) ?? '', judge ? judged(judge, position) : null);
  });
  const last = page.next && judges.get(page.next.vehicleId);
  const next: TrackCursor | null =
    page.next && last
      ? { fleet: first.id, after: { ...page.next, judged: last.state } }
      : following && { fleet: following, after: null };
  return { rows, next };
}

/** Minimum duration of a silence that a simplified track shows. */
const SILENCE_MS = 10 * 60_000;
/** Minimum `maxPoints` for showing silences: fewer points are all needed for the shape. */
const FEWEST_WITH_TIMES = 100;

/**
 * Selects positions to keep so that a simplified track shows where data is missing. Two neighbours in the track are
 * farther apart than ten minutes, and than eight `maxPoints`-th parts of the interval, only if the data has such a
 * silence. At most half of `maxPoints` are kept for this.
 */
class Silences {
  readonly #silenceMs: number;
  #keptMs = Number.NEGATIVE_INFINITY;
  #lastMs = Number.NaN;

  constructor(intervalMs: number, maxPoints: number) {
    const least = maxPoints < FEWEST_WITH_TIMES ? Number.POSITIVE_INFINITY : (8 * intervalMs) / maxPoints;
    this.#silenceMs = Math.max(SILENCE_MS, least);
  }

  /** Whether to keep this position, or this one and the one before. */
  next(timeMs: number): 'neither' | 'this' | 'both' {
    const isAfterSilence = timeMs - this.#lastMs > this.#silenceMs;
    const isDue = timeMs - this.#keptMs >= this.#silenceMs / 2;
    this.#lastMs = timeMs;
    if (!isAfterSilence && !isDue) return 'neither';
    this.#keptMs = timeMs;
    return isAfterSilence ? 'both' : 'this';
  }
}

/** The whole simplified track of the next vehicle. */
async function simplePage(
  { archive }: ReportSources,
  question: Question,
  maxPoints: number,
  cursor: VehicleCursor | null,
): Promise<Page> {
  const { part, following } = fleetFrom(question.vehicles, cursor?.vehicle ?? null, 1);
  const [vehicle] = part;
  if (vehicle === undefined) return { rows: [], next: null };
  const interval = { vehicleId: vehicle.id, fromMs: question.fromMs, toMs: question.toMs, signal: question.signal };
  const points = await simplifiedTrack(archive, interval, maxPoints);
  const rows = points.map((position) => rowOf(position, vehicle.name, null));
  return { rows, next: following && ({ vehicle: following } satisfies VehicleCursor) };
}

type TrackPosition = ArchivedPosition & { vehicleId: VehicleId };

/** A vehicle's track of at most `maxPoints` positions, without jumps and positions that the terminal does not trust. */
export async function simplifiedTrack(
  archive: ReportSources['archive'],
  interval: { vehicleId: VehicleId; fromMs: number; toMs: number; signal: AbortSignal },
  maxPoints: number,
): Promise<TrackPosition[]> {
  const { vehicleId, fromMs, toMs, signal } = interval;
  const judges = await judgesAt(archive, [vehicleId], fromMs, { queue: 'report', signal });
  const judge = judges.get(vehicleId) ?? new JumpJudge();
  const simplifier = new Simplifier<TrackPosition>(maxPoints);
  const silences = new Silences(toMs - fromMs, maxPoints);
  const asked = { vehicleIds: [vehicleId], fromMs, toMs, limit: ROWS_AT_ONCE };
  const pages = pagesOf((after: PositionsCursor | null) => archive.positions({ ...asked, after, signal }));
  // Positions that the terminal does not trust, or that are impossible, would draw spikes.
  for await (const { positions } of pages)
    for (const position of positions) {
      if (judged(judge, position) !== null || !position.valid) continue;
      const kept = silences.next(position.fixTimeMs);
      if (kept === 'both') simplifier.keepLast();
      simplifier.add(position);
      if (kept !== 'neither') simplifier.keepLast();
    }
  return simplifier.points();
}

function rowOf(position: ArchivedPosition & { vehicleId: VehicleId }, vehicleName: string, rejection: Judged): Row {
  return [
    position.vehicleId,
    vehicleName,
    position.fixTimeMs,
    position.latitude,
    position.longitude,
    position.valid,
    rejection,
    position.speedKmh,
    position.courseDeg,
    position.altitudeM,
    position.satellites,
    position.ignition,
    position.odometerM,
    position.supplyV,
    position.fuelL,
    position.alarms,
    position.attributes,
  ];
}
