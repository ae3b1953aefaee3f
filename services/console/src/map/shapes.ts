import type { Geozone } from '@outrider/client';
import { EARTH_RADIUS_M } from '../fleet/mercator.ts';

const CIRCLE_STEPS = 64;
const RADIANS = Math.PI / 180;

/** Features of geofences: circles with their radius, lines with their width. */
export function geofenceFeatures(geofences: readonly Geozone[]): GeoJSON.FeatureCollection {
  return {
    type: 'FeatureCollection',
    features: geofences.map(({ id, geometry, properties: { name, radiusM, widthM, color } }) => ({
      type: 'Feature',
      properties: color === null ? { id, name } : { id, name, color },
      geometry:
        geometry.type === 'Point'
          ? circle(geometry.coordinates, radiusM ?? 0)
          : geometry.type === 'LineString'
            ? corridor(geometry.coordinates, widthM ?? 0)
            : geometry,
    })),
  };
}

/** A circle on the ground as a polygon. */
export function circle([longitude, latitude]: readonly [number, number], radiusM: number): GeoJSON.Polygon {
  const ring = Array.from({ length: CIRCLE_STEPS + 1 }, (_, step) =>
    destination(longitude, latitude, radiusM, (step / CIRCLE_STEPS) * 360),
  );
  return { type: 'Polygon', coordinates: [ring] };
}

/** A line with a width, as one ring: along its left side with a round end, and back along its right side. */
export function corridor(line: readonly (readonly [number, number])[], widthM: number): GeoJSON.Polygon {
  const half = widthM / 2;
  const side = (points: readonly (readonly [number, number])[]) => {
    const ring: [number, number][] = [];
    for (let index = 1; index < points.length; index += 1) {
      const from = points[index - 1] as readonly [number, number];
      const to = points[index] as readonly [number, number];
      const course = courseOf(from, to);
      ring.push(destination(...from, half, course - 90), destination(...to, half, course - 90));
      if (index < points.length - 1) continue;
      for (let turn = -75; turn <= 75; turn += 15) ring.push(destination(...to, half, course + turn));
    }
    return ring;
  };
  const ring = [...side(line), ...side(line.toReversed())];
  return { type: 'Polygon', coordinates: [[...ring, ...ring.slice(0, 1)]] };
}

function courseOf([fromX, fromY]: readonly [number, number], [toX, toY]: readonly [number, number]): number {
  return Math.atan2((toX - fromX) * Math.cos(((fromY + toY) / 2) * RADIANS), toY - fromY) / RADIANS;
}

/** The point at a distance on a course. */
function destination(longitude: number, latitude: number, distanceM: number, courseDeg: number): [number, number] {
  const angle = distanceM / EARTH_RADIUS_M;
  const course = courseDeg * RADIANS;
  const from = latitude * RADIANS;
  const to = Math.asin(Math.sin(from) * Math.cos(angle) + Math.cos(from) * Math.sin(angle) * Math.cos(course));
  const turn = Math.atan2(
    Math.sin(course) * Math.sin(angle) * Math.cos(from),
    Math.cos(angle) - Math.sin(from) * Math.sin(to),
  );
  return [longitude + turn / RADIANS, to / RADIANS];
}
