import type { LngLat } from '@outrider/domain';
import { createPlane, type Plane, type PointM, spanM } from './plane.ts';
import { createRandom, type Random } from './random.ts';

export type RoadKind = 'service' | 'street' | 'avenue' | 'boulevard' | 'connector' | 'ring' | 'motorway';

/** One direction of a road between two junctions. */
export interface Road {
  from: number;
  to: number;
  name: string;
  kind: RoadKind;
  limitKmh: number;
  /** From the first junction to the last, both included. */
  path: readonly LngLat[];
  lengthM: number;
}

/** A place off the road that vehicles go to. */
export interface Site {
  name: string;
  kind: 'depot' | 'customer' | 'logistics';
  junction: number;
  at: LngLat;
}

/** A made-up town. Every junction can be reached from every other. */
export interface RoadNetwork {
  plane: Plane;
  /** Where each junction is, by its number. */
  junctions: readonly LngLat[];
  /** Roads that leave each junction, by its number. */
  roadsFrom: readonly (readonly Road[])[];
  sites: readonly Site[];
  /** Between four streets or avenues: the junctions at the corners, in turn. */
  blocks: readonly (readonly [number, number, number, number])[];
  /** The junctions of the toll motorway, from the ring road outwards. */
  tollRoad: readonly number[];
  /** The junction in the middle of the town. */
  center: number;
}

/** Where the town stands: farmland on a plain, at sea level plus little, with nothing of that size near. */
const TOWN: LngLat = [20.64, 47.02];
/** The grid goes from -HALF to HALF blocks each way. */
const HALF = 5;
const BLOCK_M = 880;
const RING_RADIUS_M = 6400;
const RING_JUNCTIONS = 24;
/** Curves are drawn with a point at least this often. */
const STEP_M = 45;
const MOTORWAY_STEPS = 6;
const CUSTOMERS = [
  'Station Bakery',
  'Furniture Works',
  'City Hospital',
  'Harbour Cold Store',
  'Steel Works',
  'Central Market',
  'Old Town Pharmacy',
  'River Brewery',
];

/**
 * A town with a grid of streets and avenues, two boulevards across it, a ring road, connectors to it, and a toll
 * motorway to a logistics park, with curves in most of them and limits from 30 to 110 km/h.
 *
 * @param seed the same seed gives the same town
 */
export function createRoadNetwork(seed: number): RoadNetwork {
  const random = createRandom(seed);
  const plane = createPlane(TOWN);
  const points: PointM[] = [];
  const roadsFrom: Road[][] = [];

  const addJunction = (point: PointM): number => {
    roadsFrom.push([]);
    return points.push(point) - 1;
  };
  const pointOf = (junction: number): PointM => {
    const point = points[junction];
    if (!point) throw new RangeError(`no junction ${junction}`);
    return point;
  };
  const addRoad = (name: string, kind: RoadKind, limitKmh: number, from: number, to: number, line: PointM[]): void => {
    const path = line.map((point) => plane.toLngLat(point));
    let lengthM = 0;
    for (let i = 1; i < line.length; i++) lengthM += spanM(line[i - 1] as PointM, line[i] as PointM);
    roadsFrom[from]?.push({ from, to, name, kind, limitKmh, path, lengthM });
    roadsFrom[to]?.push({ from: to, to: from, name, kind, limitKmh, path: path.toReversed(), lengthM });
  };
  /** `bend`: how far the middle stands off the straight line, as a share of the length. */
  const addBentRoad = (name: string, kind: RoadKind, limitKmh: number, from: number, to: number, bend: number): void =>
    addRoad(name, kind, limitKmh, from, to, bentLine(pointOf(from), pointOf(to), bend));

  // The grid.
  const grid = new Map<string, number>();
  const at = (column: number, row: number): number => {
    const junction = grid.get(`${column},${row}`);
    if (junction === undefined) throw new RangeError(`no block corner ${column},${row}`);
    return junction;
  };
  for (let row = -HALF; row <= HALF; row++)
    for (let column = -HALF; column <= HALF; column++)
      grid.set(
        `${column},${row}`,
        addJunction([column * BLOCK_M + random.between(-80, 80), row * BLOCK_M + random.between(-80, 80)]),
      );
  const streetsLeft = new Map<number, number>();
  const isAvenue = (index: number): boolean => index % 2 === 0;
  const neighbours: [from: number, to: number, index: number, name: string][] = [];
  for (let row = -HALF; row <= HALF; row++)
    for (let column = -HALF; column <= HALF; column++) {
      if (column < HALF) neighbours.push([at(column, row), at(column + 1, row), row, ordinal(row, 'Street')]);
      if (row < HALF) neighbours.push([at(column, row), at(column, row + 1), column, ordinal(column, 'Avenue')]);
    }
  for (const [from, to] of neighbours) {
    streetsLeft.set(from, (streetsLeft.get(from) ?? 0) + 1);
    streetsLeft.set(to, (streetsLeft.get(to) ?? 0) + 1);
  }
  for (const [from, to, index, name] of neighbours) {
    const wide = isAvenue(index);
    const fromLeft = streetsLeft.get(from) ?? 0;
    const toLeft = streetsLeft.get(to) ?? 0;
    // Some streets were never built. Every corner keeps two, and the avenues are whole: so no corner is cut off.
    if (!wide && random.next() < 0.15 && fromLeft > 2 && toLeft > 2) {
      streetsLeft.set(from, fromLeft - 1);
      streetsLeft.set(to, toLeft - 1);
      continue;
    }
    const bend = random.next() < 0.6 ? random.between(-0.06, 0.06) : 0;
    const limitKmh = wide ? 60 : random.next() < 0.25 ? 30 : 50;
    addBentRoad(name, wide ? 'avenue' : 'street', limitKmh, from, to, bend);
  }

  // Two boulevards across it, through the middle.
  for (let step = -HALF; step < HALF; step++) {
    const bend = random.between(-0.04, 0.04);
    addBentRoad('Liberty Boulevard', 'boulevard', 70, at(step, step), at(step + 1, step + 1), bend);
    addBentRoad('River Boulevard', 'boulevard', 70, at(step, -step), at(step + 1, -step - 1), -bend);
  }

  // The ring road, and what leads to it.
  const ring: number[] = [];
  for (let step = 0; step < RING_JUNCTIONS; step++)
    ring.push(addJunction(onCircle((step / RING_JUNCTIONS) * 2 * Math.PI)));
  ring.forEach((from, step) => {
    const to = ring[(step + 1) % RING_JUNCTIONS] as number;
    const line = Array.from({ length: 41 }, (_, part) => onCircle(((step + part / 40) / RING_JUNCTIONS) * 2 * Math.PI));
    addRoad('Ring Road', 'ring', 90, from, to, line);
  });
  const nearestOnRing = (point: PointM): number =>
    ring.reduce((best, each) => (spanM(pointOf(each), point) < spanM(pointOf(best), point) ? each : best));
  for (let index = -HALF + 1; index < HALF; index++) {
    if (!isAvenue(index)) continue;
    for (const corner of [at(index, HALF), at(index, -HALF), at(HALF, index), at(-HALF, index)]) {
      const onRing = nearestOnRing(pointOf(corner));
      addBentRoad(`${ordinal(index, 'Connector')}`, 'connector', 70, corner, onRing, random.between(-0.12, 0.12));
    }
  }
  for (const corner of [at(HALF, HALF), at(-HALF, HALF), at(HALF, -HALF), at(-HALF, -HALF)])
    addBentRoad('Boulevard Gate', 'connector', 70, corner, nearestOnRing(pointOf(corner)), 0);

  // The toll motorway: east from the ring in long curves, to a logistics park of its own.
  const tollRoad: number[] = [ring[0] as number];
  for (let step = 1; step <= MOTORWAY_STEPS; step++) {
    const [eastM, northM] = pointOf(tollRoad[step - 1] as number);
    tollRoad.push(addJunction([eastM + 1700, northM + (step % 2 === 0 ? 260 : 480)]));
    const bend = step % 2 === 0 ? -0.07 : 0.07;
    addBentRoad('M7 toll road', 'motorway', 110, tollRoad[step - 1] as number, tollRoad[step] as number, bend);
  }

  const blocks: [number, number, number, number][] = [];
  for (let row = -HALF; row < HALF; row++)
    for (let column = -HALF; column < HALF; column++)
      blocks.push([at(column, row), at(column + 1, row), at(column + 1, row + 1), at(column, row + 1)]);

  const sites: Site[] = [];
  const addSite = (name: string, kind: Site['kind'], gate: number, offset: PointM): void => {
    const [eastM, northM] = pointOf(gate);
    const yard = addJunction([eastM + offset[0], northM + offset[1]]);
    addBentRoad(`${name} yard`, 'service', 30, gate, yard, 0.1);
    sites.push({ name, kind, junction: yard, at: plane.toLngLat(pointOf(yard)) });
  };
  addSite('Depot', 'depot', at(2, -1), [-190, 230]);
  const taken = new Set([at(2, -1)]);
  for (const name of CUSTOMERS) {
    // A yard lies inside the block: not in one that a boulevard crosses.
    const gate = pickCorner(
      random,
      (column, row) => column !== row && column + row !== -1 && !taken.has(at(column, row)),
    );
    taken.add(at(gate[0], gate[1]));
    addSite(name, 'customer', at(gate[0], gate[1]), [random.between(150, 220), random.between(200, 260)]);
  }
  addSite('East Logistics Park', 'logistics', tollRoad[MOTORWAY_STEPS] as number, [260, 340]);

  return {
    plane,
    junctions: points.map((point) => plane.toLngLat(point)),
    roadsFrom,
    sites,
    blocks,
    tollRoad,
    center: at(0, 0),
  };
}

/**
 * The fastest way between two junctions at the limits, by Dijkstra's algorithm.
 *
 * @returns the roads in order, empty where both are the same; null where no way leads there
 */
export function findRoute(network: RoadNetwork, from: number, to: number): Road[] | null {
  const seconds = new Map<number, number>([[from, 0]]);
  const cameBy = new Map<number, Road>();
  const done = new Set<number>();
  // A few hundred junctions: looking through the open ones is cheaper than keeping a heap.
  const open = new Set<number>([from]);
  while (open.size > 0) {
    let nearest = -1;
    let nearestSeconds = Number.POSITIVE_INFINITY;
    for (const junction of open) {
      const reached = seconds.get(junction) ?? Number.POSITIVE_INFINITY;
      if (reached < nearestSeconds) {
        nearest = junction;
        nearestSeconds = reached;
      }
    }
    if (nearest === to) break;
    open.delete(nearest);
    done.add(nearest);
    for (const road of network.roadsFrom[nearest] ?? []) {
      if (done.has(road.to)) continue;
      const reached = nearestSeconds + road.lengthM / (road.limitKmh / 3.6);
      if (reached >= (seconds.get(road.to) ?? Number.POSITIVE_INFINITY)) continue;
      seconds.set(road.to, reached);
      cameBy.set(road.to, road);
      open.add(road.to);
    }
  }
  if (!seconds.has(to)) return null;
  const roads: Road[] = [];
  for (let junction = to; junction !== from; ) {
    const road = cameBy.get(junction);
    if (!road) return null;
    roads.push(road);
    junction = road.from;
  }
  return roads.reverse();
}

function onCircle(angle: number): PointM {
  return [RING_RADIUS_M * Math.cos(angle), RING_RADIUS_M * Math.sin(angle)];
}

/** A quadratic curve between two points. */
function bentLine(from: PointM, to: PointM, bend: number): PointM[] {
  const lengthM = spanM(from, to);
  if (bend === 0) return [from, to];
  const parts = Math.max(2, Math.ceil(lengthM / STEP_M));
  const control: PointM = [
    (from[0] + to[0]) / 2 - (to[1] - from[1]) * bend * 2,
    (from[1] + to[1]) / 2 + (to[0] - from[0]) * bend * 2,
  ];
  return Array.from({ length: parts + 1 }, (_, part) => {
    const t = part / parts;
    const along = (axis: 0 | 1): number =>
      (1 - t) * (1 - t) * from[axis] + 2 * (1 - t) * t * control[axis] + t * t * to[axis];
    return [along(0), along(1)];
  });
}

function pickCorner(random: Random, fits: (column: number, row: number) => boolean): [column: number, row: number] {
  const corners: [number, number][] = [];
  for (let row = -HALF; row < HALF; row++)
    for (let column = -HALF; column < HALF; column++) if (fits(column, row)) corners.push([column, row]);
  return random.pick(corners);
}

function ordinal(index: number, what: string): string {
  const number = index + HALF + 1;
  const suffix = number > 3 ? 'th' : ['', 'st', 'nd', 'rd'][number];
  return `${number}${suffix} ${what}`;
}
