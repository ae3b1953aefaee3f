import type { GeofenceId, GroupId, UserId } from '../ids.ts';
import type { CustomFields } from './custom-fields.ts';
import { COLOR, defaultsOf, type FieldTable, type FieldValues } from './fields.ts';

/** Degrees as GeoJSON writes them: longitude, then latitude. */
export type LngLat = readonly [longitude: number, latitude: number];

/** Outer ring first, then holes. A ring is closed: its last point repeats its first. */
export interface PolygonShape {
  type: 'polygon';
  rings: readonly (readonly LngLat[])[];
}
/** Polygons that do not overlap. They may touch at single points, and lie in holes of others. */
export interface MultiPolygonShape {
  type: 'multipolygon';
  /** Rings of each polygon, as in {@link PolygonShape}. */
  polygons: readonly (readonly (readonly LngLat[])[])[];
}
export interface CircleShape {
  type: 'circle';
  center: LngLat;
  radiusM: number;
}
/** A path with a width: inside means within half of `widthM` of the path. */
export interface LineShape {
  type: 'line';
  path: readonly LngLat[];
  /** 10 to 1000. */
  widthM: number;
}
export type Shape = PolygonShape | MultiPolygonShape | CircleShape | LineShape;

/** All rings of a shape made of polygons. */
export function ringsOf(shape: PolygonShape | MultiPolygonShape): readonly (readonly LngLat[])[] {
  return shape.type === 'polygon' ? shape.rings : shape.polygons.flat();
}

/** Number of points that define a shape, over all rings. The cost of storing and checking it grows with this. */
export function verticesOf(shape: Shape): number {
  if (shape.type === 'polygon' || shape.type === 'multipolygon')
    return ringsOf(shape).reduce((sum, ring) => sum + ring.length, 0);
  return shape.type === 'line' ? shape.path.length : 1;
}

/** The plain fields of a geofence. */
export const GEOFENCE_FIELDS = {
  name: { type: 'text', maxCharacters: 200, example: 'Depot' },
  speedLimitKmh: {
    type: 'number',
    min: 1,
    max: 500,
    default: null,
    description:
      'Speed limit inside the geozone, in km/h. Exceeding it is an event of its own. Null if the geozone has no limit.',
    example: 20,
  },
  minDwellSeconds: {
    type: 'number',
    min: 0,
    max: 86_400,
    default: 0,
    description:
      'Shortest stay that begins a visit, and shortest absence that ends it, in seconds. Shorter ones cause no event.',
  },
  color: { ...COLOR, description: 'Colour of the geozone on maps. Null if it has no colour of its own.' },
  description: {
    type: 'text',
    maxCharacters: 2000,
    hasLines: true,
    default: null,
    description: 'Description for people. It may have several lines.',
    example: 'Gate code at the office',
    since: 4,
  },
  category: {
    type: 'text',
    maxCharacters: 100,
    default: null,
    description: 'Name for this kind of place, by which people filter lists. Null if there is none.',
    example: 'Depot',
    since: 5,
  },
  sharedWithOrganisation: {
    type: 'flag',
    default: false,
    description:
      'Whether all accounts of the owner’s organisation may see the geozone, and its events about vehicles that they may see.',
    since: 5,
  },
} as const satisfies FieldTable;

export const GEOFENCE_DEFAULTS = defaultsOf(GEOFENCE_FIELDS);

/** A place that vehicles visit. Its plain fields are in {@link GEOFENCE_FIELDS}. */
export interface Geofence extends FieldValues<typeof GEOFENCE_FIELDS>, CustomFields {
  kind: 'geofence';
  id: GeofenceId;
  version: number;
  ownerId: UserId;
  shape: Shape;
  /** Null: all vehicles that the owner may see. Otherwise those of them in one of these groups. */
  groupIds: readonly GroupId[] | null;
  /** Groups whose members may see the geofence as well. */
  sharedGroupIds: readonly GroupId[];
}
