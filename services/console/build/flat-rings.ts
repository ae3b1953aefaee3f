type Ring = GeoJSON.Position[];

const WORLD = 360;
const SOUTH_POLE = -90;

/** Converts the polygons of a feature or collection for a flat map, see `flatPolygon`. */
export function flatFeatures(drawn: GeoJSON.Feature | GeoJSON.FeatureCollection): GeoJSON.FeatureCollection {
  const features = drawn.type === 'FeatureCollection' ? drawn.features : [drawn];
  return {
    type: 'FeatureCollection',
    features: features.flatMap(({ geometry, properties }) => {
      const polygons =
        geometry.type === 'MultiPolygon'
          ? geometry.coordinates
          : geometry.type === 'Polygon'
            ? [geometry.coordinates]
            : [];
      return polygons.map((rings) => ({
        type: 'Feature' as const,
        properties,
        geometry: { type: 'Polygon' as const, coordinates: flatPolygon(rings) },
      }));
    }),
  };
}

/**
 * Converts a polygon of Natural Earth from the globe to a flat map. On the globe, rings cross the antimeridian, and one
 * goes around the south pole. On a flat map, such a ring continues beyond 180 degrees, and the tile cutter wraps it to
 * the other side. The ring around the pole is closed along the pole.
 */
export function flatPolygon([outer = [], ...holes]: Ring[]): Ring[] {
  const flat = unrolled(outer);
  const longitudes = flat.map(([longitude = 0]) => longitude);
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  return [
    flat,
    ...holes.map((hole) => {
      const ring = unrolled(hole);
      const first = ring[0]?.[0] ?? 0;
      const turns = first < west ? WORLD : first > east ? -WORLD : 0;
      return ring.map(([longitude = 0, latitude = 0]) => [longitude + turns, latitude]);
    }),
  ];
}

/** Unwraps the ring's longitudes: each point is less than 180 degrees from the one before. */
function unrolled(ring: Ring): Ring {
  const flat: Ring = [];
  let turns = 0;
  for (const [index, [longitude = 0, latitude = 0]] of ring.entries()) {
    const before = ring[index - 1]?.[0] ?? longitude;
    if (longitude - before > WORLD / 2) turns -= WORLD;
    else if (longitude - before < -WORLD / 2) turns += WORLD;
    flat.push([longitude + turns, latitude]);
  }
  if (turns === 0) return flat;
  // The ring goes around the pole: close it along the pole, back to its first point.
  const first = flat[0] as GeoJSON.Position;
  const last = flat.at(-1) as GeoJSON.Position;
  return [...flat, [last[0] as number, SOUTH_POLE], [first[0] as number, SOUTH_POLE], first];
}
