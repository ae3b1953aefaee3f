import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import type { Mark } from '../../track/marks.ts';
import { joined, t } from '../../words/words.ts';
import { readingText } from '../map/sensor-values.tsx';
import { words } from '../sensors/words.ts';
import { SENSOR, sensorOf, TANK } from './measured.ts';
import { trackWords } from './words.ts';

export function nameOf(vehicleId: string): string {
  return fleet.vehicles.find(({ id }) => id === vehicleId)?.name ?? trackWords().unknownVehicle;
}

/** “Stop of 12 min”, “Speeding, 93 km/h, 2 min”. */
export function describeMark({ kind, row, toMs, durationSeconds, distanceM }: Mark): string {
  const format = formats();
  const duration = format.duration(durationSeconds);
  if (kind === 'gap') return trackWords().gapOf(duration);
  if (kind === 'trip') {
    const summary = t().tripSummary(format.distance(distanceM), duration);
    return joined([t().events.trip, summary, toMs === null ? t().ongoing : null], ', ');
  }
  if (row === null || !('phase' in row)) return t().stopOf(duration);
  const parts = [
    t().events[row.kind] ?? row.kind,
    row.geozoneName ?? row.alarm,
    row.peakKmh === null ? null : format.speed(row.peakKmh),
    toMs === null ? t().ongoing : durationSeconds > 0 ? duration : null,
  ];
  return joined(parts, ', ');
}

/** @param vehicleIds vehicles whose sensors the name may refer to */
export function measureName(name: string, vehicleIds: readonly string[] = []): string {
  if (name === TANK) return words().chart.tankLevel;
  if (name.startsWith(SENSOR)) return sensorOf(name, vehicleIds)?.name ?? name;
  return trackWords().measures[name] ?? name;
}

/** A value of a measure, with its unit if the measure has the same name in every protocol. */
export function measureText(name: string, value: number | null, vehicleIds: readonly string[] = []): string {
  const format = formats();
  if (value === null) return '–';
  if (name === TANK) return format.volume(value);
  if (name.startsWith(SENSOR)) {
    const sensor = sensorOf(name, vehicleIds);
    return sensor === undefined ? format.number(value, 1) : readingText({ ...sensor, value }, format);
  }
  if (name === 'speedKmh') return format.speed(value);
  if (name === 'fuelL') return format.volume(value);
  if (name === 'supplyV') return format.voltage(value);
  if (name === 'odometerM') return format.distance(value);
  return name === 'altitudeM' ? `${format.number(value)} m` : format.number(value, 2);
}
