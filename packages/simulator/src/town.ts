import type { LngLat } from '@outrider/domain';
import { type PointM, spanM } from './plane.ts';
import { createRandom, type Random } from './random.ts';
import type { Road, RoadKind, RoadNetwork } from './roads.ts';

/** Map features in the layers of the Shortbread tile schema: https://shortbread-tiles.org/schema/1.0 */
export interface TownMap {
  name: string;
  layers: Readonly<Record<TownLayer, GeoJSON.Feature[]>>;
}

export type TownLayer = 'land' | 'water_polygons' | 'buildings' | 'streets' | 'street_labels' | 'place_labels';

const NAME = 'Riverford';
/** Shortbread's names for the kinds of roads. */
const KINDS: Readonly<Record<RoadKind, string>> = {
  service: 'service',
  street: 'residential',
  avenue: 'secondary',
  boulevard: 'primary',
  connector: 'tertiary',
  ring: 'trunk',
  motorway: 'motorway',
};
const RIVER_HALF_WIDTH_M = 55;
const RIVER_STEP_M = 60;
/** Half of it lies north of the middle of the town. */
const RIVER_LENGTH_M = 30_000;
/** Maximum sideways distance of the river from the middle of its column of blocks. */
const RIVER_SWING_M = 210;
const PARKS = 9;
const FORESTS = 26;
/** Minimum distance between the middle of a road and the wall of a house. */
const FRONT_YARD_M = 15;
const BIN_M = 120;

/** By kind of road: ranges of the width and depth of houses, and the distance between houses. */
const HOUSES: Readonly<Partial<Record<RoadKind, { widthM: PointM; depthM: PointM; everyM: number }>>> = {
  street: { widthM: [11, 19], depthM: [9, 14], everyM: 27 },
  avenue: { widthM: [16, 34], depthM: [12, 22], everyM: 40 },
  boulevard: { widthM: [24, 48], depthM: [16, 26], everyM: 54 },
  service: { widthM: [38, 60], depthM: [26, 40], everyM: 90 },
};

/**
 * Draws a fictitious town: its streets, a river, parks, quarters, houses and woods. The same network and seed give the
 * same town.
 */
export function drawTown(network: RoadNetwork, seed = 1): TownMap {
  const random = createRandom(seed);
  const { plane } = network;
  const roads = network.roadsFrom.flat().filter(({ from, to }) => from < to);
  const polygon = (kind: string, ring: readonly PointM[]): GeoJSON.Feature => {
    const corners = ring.map((point) => [...plane.toLngLat(point)]);
    const coordinates = [[...corners, corners[0] ?? []]];
    return { type: 'Feature', properties: { kind }, geometry: { type: 'Polygon', coordinates } };
  };
  const blocks = network.blocks.map((corners) =>
    corners.map((corner) => plane.toPoint(network.junctions[corner] ?? [0, 0])),
  );
  const yards = network.sites.map(({ at }) => plane.toPoint(at));
  const river = riverThrough(blocks, yards);
  const nearRoads = new Bins();
  for (const { path } of roads) nearRoads.addLine(path.map((place) => plane.toPoint(place)));

  const quarters = quartersOf(blocks, yards, random);
  const parks = quarters.filter(({ kind }) => kind === 'park').map(({ ring }) => ring);
  const forests = woodsAround(random, nearRoads, river);
  const ponds = parks.slice(0, 3).map((ring) => blob(random, middleOf(ring), random.between(90, 150)));
  const houses = housesAlong(network, roads, random, (point, radiusM) => {
    const isWet = Math.abs(point[0] - river.eastM(point[1])) < RIVER_HALF_WIDTH_M + radiusM + 8;
    return isWet || parks.some((ring) => isInside(ring, point)) || nearRoads.isNear(point, radiusM + FRONT_YARD_M - 6);
  });

  return {
    name: NAME,
    layers: {
      land: [
        ...forests.map((ring) => polygon('forest', ring)),
        ...quarters.map(({ kind, ring }) => polygon(kind, ring)),
      ],
      water_polygons: [polygon('river', river.banks), ...ponds.map((ring) => polygon('water', ring))],
      buildings: houses.map((ring) => polygon('building', ring)),
      streets: roads.map(({ path, kind, name }) => line(path, { kind: KINDS[kind], name })),
      street_labels: labelledLines(roads),
      place_labels: [
        {
          type: 'Feature',
          properties: { kind: 'city', name: NAME, population: 60_000 },
          geometry: { type: 'Point', coordinates: [...(network.junctions[network.center] ?? [])] },
        },
      ],
    },
  };
}

function line(path: readonly LngLat[], properties: object): GeoJSON.Feature {
  return {
    type: 'Feature',
    properties,
    geometry: { type: 'LineString', coordinates: path.map((place) => [...place]) },
  };
}

/**
 * Joins adjacent roads of the same name into one line, because between two junctions there is little space for the
 * name.
 */
function labelledLines(roads: readonly Road[]): GeoJSON.Feature[] {
  const labelled = roads.filter(({ kind }) => kind !== 'service');
  const lines: GeoJSON.Feature[] = [];
  const byName = Map.groupBy(labelled, ({ name, kind }) => `${kind} ${name}`);
  for (const parts of byName.values()) {
    const left = new Set(parts);
    for (const first of parts) {
      if (!left.delete(first)) continue;
      const path = [...first.path];
      let end = first.to;
      for (let next = leaving(left, end); next !== undefined; next = leaving(left, end)) {
        left.delete(next);
        path.push(...(next.from === end ? next.path : next.path.toReversed()).slice(1));
        end = next.from === end ? next.to : next.from;
      }
      lines.push(line(path, { kind: KINDS[first.kind], name: first.name }));
    }
  }
  return lines;
}

function leaving(roads: ReadonlySet<Road>, junction: number): Road | undefined {
  return [...roads].find(({ from, to }) => from === junction || to === junction);
}

interface River {
  banks: PointM[];
  /** Position of the middle of the river at a distance north. */
  eastM(northM: number): number;
}

/** Places the river from north to south, in the first column of blocks west of the middle that has no yard. */
function riverThrough(blocks: readonly (readonly PointM[])[], yards: readonly PointM[]): River {
  const columns = [...new Set(blocks.map((block) => Math.round(middleOf(block)[0] / BIN_M)))].map((at) => at * BIN_M);
  const isFree = (eastM: number) =>
    yards.every(([yardM, northM]) => Math.abs(yardM - swung(eastM, northM)) > RIVER_HALF_WIDTH_M + 90);
  const westward = columns.filter((eastM) => eastM < 0).sort((a, b) => b - a);
  const bedM = westward.slice(1).find(isFree) ?? Math.min(...columns);
  const east: PointM[] = [];
  const west: PointM[] = [];
  for (let northM = -RIVER_LENGTH_M / 2; northM <= RIVER_LENGTH_M / 2; northM += RIVER_STEP_M) {
    const halfM = RIVER_HALF_WIDTH_M * (1 + 0.18 * Math.sin(northM / 690));
    east.push([swung(bedM, northM) + halfM, northM]);
    west.push([swung(bedM, northM) - halfM, northM]);
  }
  return { banks: [...east, ...west.reverse()], eastM: (northM) => swung(bedM, northM) };
}

/** Position of the river at a distance north: narrow bends in the town, wide ones outside. */
function swung(bedM: number, northM: number): number {
  const outsideM = Math.max(0, Math.abs(northM) - 5500);
  return bedM + RIVER_SWING_M * Math.sin(northM / 1450) + outsideM * 0.35 * Math.sin(northM / 2600);
}

interface Quarter {
  kind: 'residential' | 'commercial' | 'industrial' | 'park';
  ring: readonly PointM[];
}

function quartersOf(blocks: readonly (readonly PointM[])[], yards: readonly PointM[], random: Random): Quarter[] {
  const empty = blocks.filter((ring) => !yards.some((yard) => isInside(ring, yard)));
  const parks = new Set<readonly PointM[]>();
  while (parks.size < Math.min(PARKS, empty.length)) parks.add(random.pick(empty));
  return blocks.map((ring) => {
    const [eastM, northM] = middleOf(ring);
    if (parks.has(ring)) return { kind: 'park', ring };
    if (Math.hypot(eastM, northM) < 1300) return { kind: 'commercial', ring };
    return { kind: eastM > 3000 || yards.some((yard) => isInside(ring, yard)) ? 'industrial' : 'residential', ring };
  });
}

/** Adds irregular woods outside the town that no road crosses. */
function woodsAround(random: Random, nearRoads: Bins, river: River): PointM[][] {
  const woods: PointM[][] = [];
  for (let tries = 0; woods.length < FORESTS && tries < 40 * FORESTS; tries++) {
    const angle = random.between(0, 2 * Math.PI);
    const distanceM = random.between(7400, 15_000);
    const center: PointM = [distanceM * Math.cos(angle), distanceM * Math.sin(angle)];
    const radiusM = random.between(350, 1300);
    const extentM = radiusM * 1.35;
    if (nearRoads.isNear(center, extentM) || Math.abs(center[0] - river.eastM(center[1])) < extentM) continue;
    woods.push(blob(random, center, radiusM));
  }
  return woods;
}

function blob(random: Random, [eastM, northM]: PointM, radiusM: number): PointM[] {
  const waves = [2, 3, 5].map((count) => ({ count, high: random.between(0.04, 0.11), turn: random.between(0, 6) }));
  return Array.from({ length: 36 }, (_, step) => {
    const angle = (step / 36) * 2 * Math.PI;
    const wavy = waves.reduce((sum, { count, high, turn }) => sum + high * Math.sin(count * angle + turn), 1);
    return [eastM + radiusM * wavy * Math.cos(angle), northM + radiusM * wavy * Math.sin(angle)];
  });
}

/** @param isTaken whether a house with this radius may not be placed there */
function housesAlong(
  { plane }: RoadNetwork,
  roads: readonly Road[],
  random: Random,
  isTaken: (point: PointM, radiusM: number) => boolean,
): PointM[][] {
  const houses: PointM[][] = [];
  const built = new Bins();
  for (const { path, kind } of roads) {
    const size = HOUSES[kind];
    if (size === undefined) continue;
    for (const { at, along } of walk(
      path.map((place) => plane.toPoint(place)),
      size.everyM,
    ))
      for (const side of [-1, 1])
        for (const row of [0, 1]) {
          if (random.next() < (row === 0 ? 0.08 : 0.45)) continue;
          const widthM = random.between(...size.widthM);
          const depthM = random.between(...size.depthM);
          const offM = side * (FRONT_YARD_M + depthM / 2 + random.between(0, 6) + row * 34);
          const center: PointM = [at[0] - along[1] * offM, at[1] + along[0] * offM];
          const radiusM = Math.hypot(widthM, depthM) / 2;
          if (isTaken(center, Math.min(widthM, depthM) / 2) || built.isNear(center, radiusM + 14)) continue;
          built.addLine([center]);
          houses.push(rectangle(center, along, widthM, depthM));
        }
  }
  return houses;
}

function rectangle(center: PointM, along: PointM, widthM: number, depthM: number): PointM[] {
  const corner = (across: number, deep: number): PointM => [
    center[0] + along[0] * across - along[1] * deep,
    center[1] + along[1] * across + along[0] * deep,
  ];
  const [w, d] = [widthM / 2, depthM / 2];
  return [corner(-w, -d), corner(w, -d), corner(w, d), corner(-w, d)];
}

/** Points of a line, `everyM` apart, with the direction there. */
function* walk(path: readonly PointM[], everyM: number): Generator<{ at: PointM; along: PointM }> {
  let nextM = everyM / 2;
  for (let i = 1; i < path.length; i++) {
    const [from, to] = [path[i - 1] as PointM, path[i] as PointM];
    const lengthM = spanM(from, to);
    if (lengthM === 0) continue;
    const along: PointM = [(to[0] - from[0]) / lengthM, (to[1] - from[1]) / lengthM];
    for (; nextM <= lengthM; nextM += everyM)
      yield { at: [from[0] + along[0] * nextM, from[1] + along[1] * nextM], along };
    nextM -= lengthM;
  }
}

/**
 * Spatial index: sorts points, and closely spaced points of lines, into squares, so that a query checks only near ones.
 */
class Bins {
  readonly #points = new Map<string, PointM[]>();

  addLine(path: readonly PointM[]): void {
    for (const point of path) this.#add(point);
    for (const { at } of walk(path, 12)) this.#add(at);
  }

  #add(point: PointM): void {
    const key = this.#key(point[0], point[1]);
    const points = this.#points.get(key);
    if (points === undefined) this.#points.set(key, [point]);
    else points.push(point);
  }

  isNear(point: PointM, withinM: number): boolean {
    const bins = Math.ceil(withinM / BIN_M);
    for (let x = -bins; x <= bins; x++)
      for (let y = -bins; y <= bins; y++) {
        const points = this.#points.get(this.#key(point[0] + x * BIN_M, point[1] + y * BIN_M));
        if (points?.some((each) => spanM(each, point) < withinM)) return true;
      }
    return false;
  }

  #key(eastM: number, northM: number): string {
    return `${Math.floor(eastM / BIN_M)},${Math.floor(northM / BIN_M)}`;
  }
}

function middleOf(ring: readonly PointM[]): PointM {
  const sum = ring.reduce<PointM>(([x, y], point) => [x + point[0], y + point[1]], [0, 0]);
  return [sum[0] / ring.length, sum[1] / ring.length];
}

/** Whether a point is inside a convex ring of either direction. */
function isInside(ring: readonly PointM[], [x, y]: PointM): boolean {
  const sides = ring.map((a, nth) => {
    const b = ring[(nth + 1) % ring.length] as PointM;
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
  });
  return sides.every((side) => side >= 0) || sides.every((side) => side <= 0);
}
