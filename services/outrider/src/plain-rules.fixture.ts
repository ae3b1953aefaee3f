import type { Position, Shape } from '@outrider/domain';
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon';
import { distance } from '@turf/distance';

/** What the oracle knows of a geofence. */
export interface PlainGeofence {
  id: string;
  shape: Shape;
}

/** A happening as it can be compared: which event, its phase, and the fix that made it known. */
export type Happening = string;

export function happening(kind: string, phase: string, geofenceId: string | null, fixTimeMs: number): Happening {
  return `${new Date(fixTimeMs).toISOString()} ${kind} ${phase} ${geofenceId ?? '-'}`;
}

/**
 * The rules in their plainest form, written from their description and not from the engine: every geofence looked at
 * for every fix. For drives without jumps.
 */
export function plainHappenings(
  positions: readonly Position[],
  geofences: readonly PlainGeofence[],
  speedLimitKmh: number | null,
): Happening[] {
  const happenings: Happening[] = [];
  const inside = new Map<string, boolean>();
  let last: Position | null = null;
  let speeding = false;
  for (const position of positions) {
    if (!position.valid || (last !== null && position.fixTimeMs <= last.fixTimeMs)) continue;
    for (const { id, shape } of geofences) {
      const is = contains(shape, position);
      const was = inside.get(id);
      inside.set(id, is);
      if (was !== undefined && was !== is)
        happenings.push(happening('geofence-visit', is ? 'begin' : 'end', id, position.fixTimeMs));
    }
    const over = speedLimitKmh !== null && (speedOf(last, position) ?? 0) > speedLimitKmh;
    if (over !== speeding) happenings.push(happening('speeding', over ? 'begin' : 'end', null, position.fixTimeMs));
    speeding = over;
    last = position;
  }
  // A drive that begins inside a geofence publishes no begin: when it leaves, a visit ends whose begin was not
  // published.
  return happenings;
}

function speedOf(last: Position | null, position: Position): number | null {
  if (position.speedKmh !== null) return position.speedKmh;
  if (last === null) return null;
  const hours = (position.fixTimeMs - last.fixTimeMs) / 3_600_000;
  return distance([last.longitude, last.latitude], [position.longitude, position.latitude]) / hours;
}

function contains(shape: Shape, position: Position): boolean {
  const { longitude, latitude } = position;
  switch (shape.type) {
    case 'polygon':
      return booleanPointInPolygon([longitude, latitude], {
        type: 'Polygon',
        coordinates: shape.rings.map((ring) => ring.map(([x, y]) => [x, y])),
      });
    case 'multipolygon':
      return shape.polygons.some((rings) => contains({ type: 'polygon', rings }, position));
    case 'circle':
      return distance([...shape.center], [longitude, latitude], { units: 'meters' }) <= shape.radiusM;
    case 'line':
      return distanceToPathM(shape.path, longitude, latitude) <= shape.widthM / 2;
  }
}

/** On the plane that touches the Earth at the point: exact enough within the few hundred metres that a line is wide. */
function distanceToPathM(path: readonly (readonly [number, number])[], longitude: number, latitude: number): number {
  const metresPerDegree = (6_371_008.8 * Math.PI) / 180;
  const toPlane = ([x, y]: readonly [number, number]): [number, number] => [
    (x - longitude) * Math.cos((latitude * Math.PI) / 180) * metresPerDegree,
    (y - latitude) * metresPerDegree,
  ];
  let nearest = Number.POSITIVE_INFINITY;
  for (let at = 1; at < path.length; at++) {
    const [ax, ay] = toPlane(path[at - 1] as [number, number]);
    const [bx, by] = toPlane(path[at] as [number, number]);
    const lengthSquared = (bx - ax) ** 2 + (by - ay) ** 2;
    const along =
      lengthSquared === 0 ? 0 : Math.max(0, Math.min(1, -(ax * (bx - ax) + ay * (by - ay)) / lengthSquared));
    nearest = Math.min(nearest, Math.hypot(ax + along * (bx - ax), ay + along * (by - ay)));
  }
  return nearest;
}
