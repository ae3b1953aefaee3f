import { type Fleet, STATES } from '../fleet/fleet.ts';
import { latitudeOf, longitudeOf } from '../fleet/mercator.ts';

/** A part of the Mercator square. */
export interface View {
  west: number;
  east: number;
  north: number;
  south: number;
}

/** Indexes of the vehicles drawn within the view. */
export function inView(fleet: Fleet, view: View): number[] {
  const found: number[] = [];
  for (let index = 0; index < fleet.count; index += 1)
    if (fleet.shown[index] === 1 && contains(view, fleet.x[index] as number, fleet.y[index] as number))
      found.push(index);
  return found;
}

// A vehicle without position has NaN, which is in no view.
function contains({ west, east, north, south }: View, x: number, y: number): boolean {
  if (!(y >= north && y <= south)) return false;
  return (x >= west && x <= east) || (x + 1 >= west && x + 1 <= east) || (x - 1 >= west && x - 1 <= east);
}

export interface Cluster {
  x: number;
  y: number;
  count: number;
  /** Number of vehicles in each state, in the order of `STATES`. */
  states: number[];
}

/** Clusters of the vehicles in the view, by cells of a grid. A cluster is at the mean position of its vehicles. */
export function clustersOf(fleet: Fleet, view: View, cell: number): Cluster[] {
  const cells = new Map<number, Cluster>();
  for (let index = 0; index < fleet.count; index += 1) {
    const x = fleet.x[index] as number;
    const y = fleet.y[index] as number;
    if (fleet.shown[index] !== 1 || !contains(view, x, y)) continue;
    const key = Math.floor(x / cell) * 0x4000000 + Math.floor(y / cell);
    let cluster = cells.get(key);
    if (cluster === undefined) {
      cluster = { x: 0, y: 0, count: 0, states: STATES.map(() => 0) };
      cells.set(key, cluster);
    }
    cluster.x += x;
    cluster.y += y;
    cluster.count += 1;
    const state = fleet.state[index] as number;
    cluster.states[state] = (cluster.states[state] ?? 0) + 1;
  }
  for (const cluster of cells.values()) {
    cluster.x /= cluster.count;
    cluster.y /= cluster.count;
  }
  return [...cells.values()];
}

export function clusterFeatures(
  clusters: readonly Cluster[],
  label: (count: number) => string,
): GeoJSON.FeatureCollection<GeoJSON.Point> {
  return {
    type: 'FeatureCollection',
    features: clusters.map(({ x, y, count, states }) => ({
      type: 'Feature',
      properties: { count, label: label(count), state: states.indexOf(Math.max(...states)), states },
      geometry: { type: 'Point', coordinates: [longitudeOf(x), latitudeOf(y)] },
    })),
  };
}
