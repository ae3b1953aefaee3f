import type { RefuellingsRow, Sensor } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { allPages } from '../../parts/lists/pages.ts';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import type { TimeRange } from '../../time-range.ts';
import { medianed, type Series, seriesOf, sumOf } from '../../track/series.ts';
import { measureOverTime } from '../../track/track.ts';
import type { Part } from './load.ts';

/** Prefix in the address: `sensor.` and the sensor's id. Copies of a sensor have the same id in all vehicles. */
export const SENSOR = 'sensor.';
/** The level of the tank: from its sensors, otherwise from the terminal. */
export const TANK = 'tank';
export function isOfSensors(name: string): boolean {
  return name === TANK || name.startsWith(SENSOR);
}
const MOST_POINTS = 600;
const PAGE = 1000;

/** Sensor values of a vehicle, and the changes of its tank level. */
export interface Measured {
  series: ReadonlyMap<string, Series>;
  changes: readonly RefuellingsRow[];
}

const NOTHING: Measured = { series: new Map(), changes: [] };

export function sensorsOf(vehicleId: string): readonly Sensor[] {
  return fleet.vehicles[fleet.indexOf(vehicleId)]?.sensors ?? [];
}

/** The sensor of a measure, in one of the vehicles that have it. Its copies have the same name. */
export function sensorOf(name: string, vehicleIds: readonly string[]): Sensor | undefined {
  const id = name.slice(SENSOR.length);
  for (const vehicleId of vehicleIds) {
    const found = sensorsOf(vehicleId).find((sensor) => sensor.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Measures from sensors, in addition to those of the tracks. */
export function sensorMeasures(vehicleIds: readonly string[]): string[] {
  const hasTank = vehicleIds.some((id) => {
    const vehicle = fleet.vehicles[fleet.indexOf(id)];
    return vehicle !== undefined && (vehicle.tankCapacityL !== null || levelSensors(id).length > 0);
  });
  const names = vehicleIds.flatMap((id) => sensorsOf(id).map((sensor) => `${SENSOR}${sensor.id}`));
  return [...(hasTank ? [TANK] : []), ...new Set(names)];
}

function levelSensors(vehicleId: string): readonly Sensor[] {
  return sensorsOf(vehicleId).filter(({ kind }) => kind === 'fuel-level');
}

/** Loads the chart's data of sensors and tanks, again when the interval, the vehicles or their sensors change. */
export function useMeasured(
  parts: readonly Part[],
  { fromMs, toMs }: TimeRange,
  measures: readonly string[],
): ReadonlyMap<string, Measured> {
  const known = useSignal<{ of: string; vehicles: ReadonlyMap<string, Measured> }>({ of: '', vehicles: new Map() });
  const isWanted = measures.some(isOfSensors);
  const ids = parts.map(({ vehicleId }) => vehicleId).join();
  // A sensor that was changed has a different history.
  void fleet.version.value;
  const terms = JSON.stringify(parts.map(({ vehicleId }) => sensorsOf(vehicleId)));
  const of = `${fromMs} ${toMs} ${ids} ${terms}`;
  useEffect(() => {
    if (!isWanted || known.peek().of === of) return;
    const ending = new AbortController();
    Promise.all(
      parts.map(async ({ vehicleId, track }) => {
        const gapMs = track.gapMs;
        return [vehicleId, await readMeasured(vehicleId, { fromMs, toMs }, gapMs, ending.signal)] as const;
      }),
    ).then(
      (read) => {
        if (!ending.signal.aborted) known.value = { of, vehicles: new Map(read) };
      },
      (error: unknown) => {
        if (!ending.signal.aborted) toast(describeError(error), 'error');
      },
    );
    return () => ending.abort();
  }, [of, isWanted, known]);
  return known.value.vehicles;
}

async function readMeasured(
  vehicleId: string,
  { fromMs, toMs }: Pick<TimeRange, 'fromMs' | 'toMs'>,
  gapMs: number,
  signal: AbortSignal,
): Promise<Measured> {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  const query = { vehicleId, from, to, limit: PAGE };
  const changes = () =>
    allPages((cursor) => api.get('/api/v1/reports/refuellings', { query: { ...query, ...cursor }, signal }));
  const series = async () => {
    if (sensorsOf(vehicleId).length === 0) return NOTHING.series;
    const wanted = { ...query, maxPoints: MOST_POINTS };
    const rows = await allPages((cursor) =>
      api.get('/api/v1/reports/sensor-series', { query: { ...wanted, ...cursor }, signal }),
    );
    return seriesOf(rows, gapMs);
  };
  const [ofSensors, ofTank] = await Promise.all([series(), changes()]);
  return { series: ofSensors, changes: ofTank };
}

const NO_SERIES: Series = { seconds: [], values: [], stepMs: 0 };

/** A measure of a vehicle over time, as the chart needs it. */
export function lineOf({ vehicleId, track }: Part, name: string, { series } = NOTHING): Series {
  if (name.startsWith(SENSOR)) return series.get(name.slice(SENSOR.length)) ?? NO_SERIES;
  if (name === TANK) {
    const levels = levelSensors(vehicleId).map(({ id }) => series.get(id) ?? NO_SERIES);
    if (levels.length > 0) return sumOf(levels);
  }
  const [seconds, values] = measureOverTime(track, name === TANK ? 'fuelL' : name);
  const line = { seconds, values, stepMs: 0 };
  return name === TANK ? medianed(line) : line;
}
