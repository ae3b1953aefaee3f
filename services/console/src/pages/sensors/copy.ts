import type { Sensor, Vehicle } from '@outrider/client';

/** How sensors are copied to other vehicles: replacing theirs, or added to them. */
export type CopyMode = 'replace' | 'add';

export interface CopyStep {
  ids: string[];
  sensors: Sensor[];
}

/** Limits of one call. More is sent in parts; see `MAX_COPIED_CHARACTERS` of the API. */
const MOST_CHARACTERS = 8_000_000;
const MOST_IDS = 5000;

/**
 * The calls that copy sensors. Vehicles that end up with the same list share one call.
 *
 * @param mode `add`: a sensor of the same name is replaced, the vehicle's other sensors stay
 */
export function copySteps(
  vehicles: readonly Pick<Vehicle, 'id' | 'sensors'>[],
  sensors: readonly Sensor[],
  mode: CopyMode,
): CopyStep[] {
  const steps = new Map<string, CopyStep>();
  for (const vehicle of vehicles) {
    const next = mode === 'replace' ? [...sensors] : merged(vehicle.sensors, sensors);
    const key = JSON.stringify(next);
    const step = steps.get(key) ?? { ids: [], sensors: next };
    step.ids.push(vehicle.id);
    steps.set(key, step);
  }
  return [...steps].flatMap(([key, step]) => parts(step, key.length));
}

function parts({ ids, sensors }: CopyStep, characters: number): CopyStep[] {
  const size = Math.max(1, Math.min(MOST_IDS, Math.floor(MOST_CHARACTERS / (characters + 1000))));
  return Array.from({ length: Math.ceil(ids.length / size) }, (_, nth) => ({
    ids: ids.slice(nth * size, (nth + 1) * size),
    sensors,
  }));
}

function merged(own: readonly Sensor[], copied: readonly Sensor[]): Sensor[] {
  const nameOf = ({ name }: Sensor) => name.toLowerCase();
  const rest = new Map(copied.map((sensor) => [nameOf(sensor), sensor]));
  const next = own.map((sensor) => {
    const other = rest.get(nameOf(sensor));
    rest.delete(nameOf(sensor));
    // Keeps the id, so that the history of the sensor continues.
    return other === undefined ? sensor : { ...other, id: sensor.id };
  });
  const taken = new Set(next.map(({ id }) => id));
  return [...next, ...[...rest.values()].filter(({ id }) => !taken.has(id))];
}
