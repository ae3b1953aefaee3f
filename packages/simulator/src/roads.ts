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

/** A destination beside a road. */
export interface Site {
  name: string;
  kind: 'depot' | 'customer' | 'logistics';
  junction: number;
  at: LngLat;
}

/** A fictitious town. Every junction is connected to every other. */
export interface RoadNetwork {
  plane: Plane;
  /** Position of each junction, by its number. */
  junctions: readonly LngLat[];
  /** Roads that begin at each junction, by its number. */
  roadsFrom: readonly (readonly Road[])[];
  sites: readonly Site[];
  /** Blocks between four streets or avenues: the junctions at their corners, in order. */
  blocks: readonly (readonly [number, number, number, number])[];
  /** Junctions of the toll motorway, from the ring road outwards. */
  tollRoad: readonly number[];
  /** The central junction of the town. */
  center: number;
}

/** Location of the town: farmland on a plain, slightly above sea level, without a real town of that size nearby. */
const TOWN: LngLat = [20.64, 47.02];
/** The grid extends from -HALF to HALF blocks in each direction. */
const HALF = 5;
const BLOCK_M = 880;
const RING_RADIUS_M = 6400;
const RING_JUNCTIONS = 24;
/** Maximum distance in metres between the points of a curve. */
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
 * Creates a town with a grid of streets and avenues, two boulevards across it, a ring road, connectors to it, and a
 * toll motorway to a logistics park. Most of them have curves; limits are 30 to 110 km/h.
 *
 * @param seed the same seed gives the same town
 */
export function createRoadNetwork(seed: number): RoadNetwork {
  return new TownBuilder(createRandom(seed)).build();
}

class TownBuilder {
  readonly #random: Random;
  readonly #plane = createPlane(TOWN);
  readonly #points: PointM[] = [];
  readonly #roadsFrom: Road[][] = [];
  readonly #sites: Site[] = [];
  /** Junctions of the grid, by column and row. */
  readonly #corners = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
  }

  build(): RoadNetwork {
    this.#addCorners();
    this.#addStreets();
    this.#addBoulevards();
    const ring = this.#addRing();
    this.#addConnectors(ring);
    const tollRoad = this.#addTollRoad(ring[0] as number);
    this.#addSites(tollRoad[MOTORWAY_STEPS] as number);
    return {
      plane: this.#plane,
      junctions: this.#points.map((point) => this.#plane.toLngLat(point)),
      roadsFrom: this.#roadsFrom,
      sites: this.#sites,
      blocks: this.#blocks(),
      tollRoad,
      center: this.#corner(0, 0),
    };
  }

  #addJunction(point: PointM): number {
    this.#roadsFrom.push([]);
    return this.#points.push(point) - 1;
  }

  #pointOf(junction: number): PointM {
    const point = this.#points[junction];
    if (!point) throw new RangeError(`no junction ${junction}`);
    return point;
  }

  #corner(column: number, row: number): number {
    const junction = this.#corners.get(`${column},${row}`);
    if (junction === undefined) throw new RangeError(`no block corner ${column},${row}`);
    return junction;
  }

  #addRoad(name: string, kind: RoadKind, limitKmh: number, from: number, to: number, line: PointM[]): void {
    const path = line.map((point) => this.#plane.toLngLat(point));
    let lengthM = 0;
    for (let i = 1; i < line.length; i++) lengthM += spanM(line[i - 1] as PointM, line[i] as PointM);
    this.#roadsFrom[from]?.push({ from, to, name, kind, limitKmh, path, lengthM });
    this.#roadsFrom[to]?.push({ from: to, to: from, name, kind, limitKmh, path: path.toReversed(), lengthM });
  }

  /** @param bend distance of the middle from the straight line, as a share of the length */
  #addBentRoad(name: string, kind: RoadKind, limitKmh: number, from: number, to: number, bend: number): void {
    this.#addRoad(name, kind, limitKmh, from, to, bentLine(this.#pointOf(from), this.#pointOf(to), bend));
  }

  #addCorners(): void {
    const shiftM = () => this.#random.between(-80, 80);
    for (let row = -HALF; row <= HALF; row++)
      for (let column = -HALF; column <= HALF; column++)
        this.#corners.set(
          `${column},${row}`,
          this.#addJunction([column * BLOCK_M + shiftM(), row * BLOCK_M + shiftM()]),
        );
  }

  #addStreets(): void {
    const random = this.#random;
    const streetsLeft = new Map<number, number>();
    const neighbours: [from: number, to: number, index: number, name: string][] = [];
    for (let row = -HALF; row <= HALF; row++)
      for (let column = -HALF; column <= HALF; column++) {
        const from = this.#corner(column, row);
        if (column < HALF) neighbours.push([from, this.#corner(column + 1, row), row, ordinal(row, 'Street')]);
        if (row < HALF) neighbours.push([from, this.#corner(column, row + 1), column, ordinal(column, 'Avenue')]);
      }
    for (const [from, to] of neighbours) {
      streetsLeft.set(from, (streetsLeft.get(from) ?? 0) + 1);
      streetsLeft.set(to, (streetsLeft.get(to) ?? 0) + 1);
    }
    for (const [from, to, index, name] of neighbours) {
      const wide = isAvenue(index);
      const fromLeft = streetsLeft.get(from) ?? 0;
      const toLeft = streetsLeft.get(to) ?? 0;
      // Some streets are left out. Every corner keeps two, and the avenues are complete, so no corner is isolated.
      if (!wide && random.next() < 0.15 && fromLeft > 2 && toLeft > 2) {
        streetsLeft.set(from, fromLeft - 1);
        streetsLeft.set(to, toLeft - 1);
        continue;
      }
      const bend = random.next() < 0.6 ? random.between(-0.06, 0.06) : 0;
      const limitKmh = wide ? 60 : random.next() < 0.25 ? 30 : 50;
      this.#addBentRoad(name, wide ? 'avenue' : 'street', limitKmh, from, to, bend);
    }
  }

  /** Adds two boulevards through the middle. */
  #addBoulevards(): void {
    for (let step = -HALF; step < HALF; step++) {
      const bend = this.#random.between(-0.04, 0.04);
      const add = (name: string, from: number, to: number, bent: number) =>
        this.#addBentRoad(name, 'boulevard', 70, from, to, bent);
      add('Liberty Boulevard', this.#corner(step, step), this.#corner(step + 1, step + 1), bend);
      add('River Boulevard', this.#corner(step, -step), this.#corner(step + 1, -step - 1), -bend);
    }
  }

  /** Adds the ring road. @returns its junctions */
  #addRing(): number[] {
    const ring: number[] = [];
    for (let step = 0; step < RING_JUNCTIONS; step++)
      ring.push(this.#addJunction(onCircle((step / RING_JUNCTIONS) * 2 * Math.PI)));
    ring.forEach((from, step) => {
      const to = ring[(step + 1) % RING_JUNCTIONS] as number;
      const line = Array.from({ length: 41 }, (_, part) =>
        onCircle(((step + part / 40) / RING_JUNCTIONS) * 2 * Math.PI),
      );
      this.#addRoad('Ring Road', 'ring', 90, from, to, line);
    });
    return ring;
  }

  /** Adds connectors from the grid to the ring road. */
  #addConnectors(ring: readonly number[]): void {
    const nearestOnRing = (corner: number): number => {
      const lengthM = (junction: number) => spanM(this.#pointOf(junction), this.#pointOf(corner));
      return ring.reduce((best, each) => (lengthM(each) < lengthM(best) ? each : best));
    };
    for (let index = -HALF + 1; index < HALF; index++) {
      if (!isAvenue(index)) continue;
      for (const [column, row] of [
        [index, HALF],
        [index, -HALF],
        [HALF, index],
        [-HALF, index],
      ] as const) {
        const corner = this.#corner(column, row);
        const bend = this.#random.between(-0.12, 0.12);
        this.#addBentRoad(ordinal(index, 'Connector'), 'connector', 70, corner, nearestOnRing(corner), bend);
      }
    }
    for (const [column, row] of [
      [HALF, HALF],
      [-HALF, HALF],
      [HALF, -HALF],
      [-HALF, -HALF],
    ] as const) {
      const corner = this.#corner(column, row);
      this.#addBentRoad('Boulevard Gate', 'connector', 70, corner, nearestOnRing(corner), 0);
    }
  }

  /** Adds long curves eastwards from the ring, and a logistics park. @returns the junctions of the toll motorway */
  #addTollRoad(onRing: number): number[] {
    const tollRoad = [onRing];
    for (let step = 1; step <= MOTORWAY_STEPS; step++) {
      const from = tollRoad[step - 1] as number;
      const [eastM, northM] = this.#pointOf(from);
      const to = this.#addJunction([eastM + 1700, northM + (step % 2 === 0 ? 260 : 480)]);
      tollRoad.push(to);
      this.#addBentRoad('M7 toll road', 'motorway', 110, from, to, step % 2 === 0 ? -0.07 : 0.07);
    }
    return tollRoad;
  }

  #blocks(): RoadNetwork['blocks'] {
    const blocks: [number, number, number, number][] = [];
    for (let row = -HALF; row < HALF; row++)
      for (let column = -HALF; column < HALF; column++)
        blocks.push([
          this.#corner(column, row),
          this.#corner(column + 1, row),
          this.#corner(column + 1, row + 1),
          this.#corner(column, row + 1),
        ]);
    return blocks;
  }

  #addSite(name: string, kind: Site['kind'], gate: number, offset: PointM): void {
    const [eastM, northM] = this.#pointOf(gate);
    const yard = this.#addJunction([eastM + offset[0], northM + offset[1]]);
    this.#addBentRoad(`${name} yard`, 'service', 30, gate, yard, 0.1);
    this.#sites.push({ name, kind, junction: yard, at: this.#plane.toLngLat(this.#pointOf(yard)) });
  }

  #addSites(logisticsGate: number): void {
    const random = this.#random;
    const depotGate = this.#corner(2, -1);
    this.#addSite('Depot', 'depot', depotGate, [-190, 230]);
    const taken = new Set([depotGate]);
    for (const name of CUSTOMERS) {
      // A yard is inside a block, so blocks crossed by a boulevard are excluded.
      const corner = pickCorner(
        random,
        (column, row) => column !== row && column + row !== -1 && !taken.has(this.#corner(column, row)),
      );
      const gate = this.#corner(...corner);
      taken.add(gate);
      this.#addSite(name, 'customer', gate, [random.between(150, 220), random.between(200, 260)]);
    }
    this.#addSite('East Logistics Park', 'logistics', logisticsGate, [260, 340]);
  }
}

/**
 * The fastest route between two junctions at the speed limits, by Dijkstra's algorithm.
 *
 * @returns the roads in order, empty where both junctions are the same; null where no route exists
 */
export function findRoute(network: RoadNetwork, from: number, to: number): Road[] | null {
  const seconds = new Map<number, number>([[from, 0]]);
  const cameBy = new Map<number, Road>();
  const done = new Set<number>();
  // With a few hundred junctions, a linear search of the open ones is faster than a heap.
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

function isAvenue(index: number): boolean {
  return index % 2 === 0;
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
