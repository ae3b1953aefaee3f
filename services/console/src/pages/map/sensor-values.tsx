import type { Sensor, VehicleState } from '@outrider/client';
import { useEffect } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { type Formats, formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

/** Minimum time between two reads for a vehicle that reports continuously. */
const PACE_MS = 3000;

/** Reads the state of a vehicle whenever it reports, at a bounded pace. */
export function useLiveState(id: string, take: (state: VehicleState) => void): void {
  useEffect(() => {
    let readAtMs = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ending = new AbortController();
    const read = () => {
      timer = undefined;
      readAtMs = performance.now();
      if (document.hidden) return;
      api.get('/api/v1/vehicles/{id}/state', { path: { id }, signal: ending.signal }).then(
        (state) => !ending.signal.aborted && take(state),
        // The panel's own regular load shows the error.
        () => undefined,
      );
    };
    let isFirst = true;
    const stop = fleet.watchedVersion.subscribe(() => {
      if (!isFirst) timer ??= setTimeout(read, Math.max(0, readAtMs + PACE_MS - performance.now()));
      isFirst = false;
    });
    return () => {
      stop();
      clearTimeout(timer);
      ending.abort();
    };
  }, [id]);
}

type Reading = VehicleState['sensors'][number];

/** Current values of a vehicle's sensors, each with its age and with the thresholds that it violates. */
export function SensorValues({ state }: { state: VehicleState }) {
  const { sensors, tank, vehicleId } = state;
  const definition = fleet.vehicles[fleet.indexOf(vehicleId)];
  if (sensors.length === 0 && tank === null) return null;
  const words = t().fleetMap;
  return (
    <section class="sensor-values">
      <h3>{words.sensorValues}</h3>
      {tank !== null && <TankLevel tank={tank} vehicleId={vehicleId} />}
      <ul>
        {sensors.map((reading) => (
          <SensorValue
            key={reading.id}
            reading={reading}
            vehicleId={vehicleId}
            definition={definition?.sensors.find(({ id }) => id === reading.id)}
          />
        ))}
      </ul>
    </section>
  );
}

interface ValueProps {
  reading: Reading;
  vehicleId: string;
  definition: Sensor | undefined;
}

function SensorValue({ reading, vehicleId, definition }: ValueProps) {
  const format = formats();
  const { id, name, at, exceeded } = reading;
  const isBeyond = exceeded.length > 0;
  const beyond = exceeded
    .map((one) => definition?.thresholds.find((threshold) => threshold.id === one))
    .map((threshold) => (threshold === undefined ? t().fleetMap.beyond : thresholdText(threshold, reading, format)));
  return (
    <li class={isBeyond ? 'beyond' : undefined}>
      <a href={chartLink(vehicleId, `sensor.${id}`)}>
        <bdi>{name}</bdi>
      </a>
      <strong>
        <bdi>{readingText(reading, format)}</bdi>
      </strong>
      <small>
        <time dateTime={at}>{format.ago((Date.now() - Date.parse(at)) / 1000)}</time>
      </small>
      {isBeyond && (
        <span class="beyond-what">
          <Icon name="warning" /> {beyond.join(', ')}
        </span>
      )}
    </li>
  );
}

function TankLevel({ tank, vehicleId }: { tank: NonNullable<VehicleState['tank']>; vehicleId: string }) {
  const format = formats();
  const { levelL, percent, at, change } = tank;
  return (
    <div class={change === null ? 'tank' : 'tank beyond'}>
      <a href={chartLink(vehicleId, 'tank')}>{t().fuel}</a>
      <strong>
        <bdi>{format.volume(levelL)}</bdi> <small>{format.number(percent)} %</small>
      </strong>
      <small>
        <time dateTime={at}>{format.ago((Date.now() - Date.parse(at)) / 1000)}</time>
      </small>
      <meter min={0} max={100} low={15} value={percent} aria-label={t().fuel} />
      {change !== null && (
        <span class="beyond-what">
          <Icon name="warning" /> {t().events[change]}, {t().ongoing}
        </span>
      )}
    </div>
  );
}

/** The value with its unit; for a digital input, on or off. */
export function readingText({ kind, value, unit }: Pick<Reading, 'kind' | 'value' | 'unit'>, format: Formats): string {
  if (kind === 'digital' && unit === '' && (value === 0 || value === 1)) return value === 1 ? t().on : t().off;
  if (unit === 'l') return format.volume(value);
  return `${format.number(value, Math.abs(value) < 100 ? 1 : 0)} ${unit}`.trim();
}

/** “above −15 °C”. */
export function thresholdText(
  { condition, min, max }: Pick<Sensor['thresholds'][number], 'condition' | 'min' | 'max'>,
  { kind, unit }: Pick<Reading, 'kind' | 'unit'>,
  format: Formats,
): string {
  const text = (value: number | null) => (value === null ? '–' : readingText({ kind, unit, value }, format));
  return t().fleetMap.thresholds[condition](text(min), text(max));
}

/** Link to today's track with the chart of one measure. */
function chartLink(vehicleId: string, measure: string): string {
  return `/track?${new URLSearchParams({ vehicle: vehicleId, chart: measure })}`;
}
