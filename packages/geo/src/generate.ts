import type { LngLat, Shape } from '@outrider/domain';
import { METRES_PER_DEGREE, RADIANS } from './earth.ts';

/** Centre of the fictitious city, at a latitude where degrees of longitude are much shorter than those of latitude. */
const CITY: LngLat = [37.6, 55.75];

/** Half of the city's width in metres. Geofences and vehicles stay inside, and are denser towards the centre. */
const CITY_RADIUS_M = 25_000;

/** Returns a number from 0 to 1 (exclusive) at each call; the sequence depends on the seed (mulberry32). */
export type Random = () => number;

/** See {@link Random}. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A place in degrees, rounded to 1e-7 as positions are. */
function placeAt(eastM: number, northM: number): LngLat {
  const latitude = CITY[1] + northM / METRES_PER_DEGREE;
  const longitude = CITY[0] + eastM / (METRES_PER_DEGREE * Math.cos(CITY[1] * RADIANS));
  return [Math.round(longitude * 1e7) / 1e7, Math.round(latitude * 1e7) / 1e7];
}

/** Metres from the centre along one axis: half of the values lie within a third of the city's radius. */
function offsetM(random: Random): number {
  return (random() + random() + random() - 1.5) * (CITY_RADIUS_M / 1.5);
}

/** Sizes are distributed over their orders of magnitude: many small yards, few districts. */
function sizeM(random: Random, least: number, most: number): number {
  return least * (most / least) ** (random() ** 2);
}

/** A yard or a district: 5 to 40 points around a centre, at uneven distances and angles, never crossing itself. */
function cityPolygon(random: Random): Shape {
  const eastM = offsetM(random);
  const northM = offsetM(random);
  const radiusM = sizeM(random, 40, 800);
  const points = 5 + Math.floor(random() * 36);
  const ring: LngLat[] = [];
  for (let i = 0; i < points; i++) {
    const angle = ((i + 0.8 * random()) / points) * 2 * Math.PI;
    const awayM = radiusM * (0.6 + 0.4 * random());
    ring.push(placeAt(eastM + awayM * Math.cos(angle), northM + awayM * Math.sin(angle)));
  }
  return { type: 'polygon', rings: [[...ring, ring[0] as LngLat]] };
}

/** A street: 3 to 20 points some 200 m apart, bending a little at each. */
function cityLine(random: Random): Shape {
  let eastM = offsetM(random);
  let northM = offsetM(random);
  let angle = random() * 2 * Math.PI;
  const path: LngLat[] = [placeAt(eastM, northM)];
  for (let left = 2 + Math.floor(random() * 18); left > 0; left--) {
    angle += (random() - 0.5) * 0.6;
    const stepM = 100 + 200 * random();
    eastM += stepM * Math.cos(angle);
    northM += stepM * Math.sin(angle);
    path.push(placeAt(eastM, northM));
  }
  return { type: 'line', path, widthM: Math.round(15 + 60 * random()) };
}

/**
 * Realistic geofences of one city: of ten, eight are polygons of 5 to 40 points and 40 to 800 m of radius, one or two
 * are circles, sometimes one is a street. The same for the same seed.
 */
export function cityGeofences(count: number, seed: number): Shape[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const kind = random();
    if (kind < 0.8) return cityPolygon(random);
    if (kind >= 0.95) return cityLine(random);
    return {
      type: 'circle',
      center: placeAt(offsetM(random), offsetM(random)),
      radiusM: Math.round(sizeM(random, 50, 800)),
    };
  });
}

/** Half of the width of the region around the city, over which sites are spread evenly, in metres. */
const REGION_RADIUS_M = 33_000;

/**
 * Sites of a fleet's customers: yards and car parks of 30 to 150 m of radius, most of them small, spread evenly over
 * the city and the land around it. One half are circles, the others polygons of 4 to 8 points. The same for the same
 * seed.
 */
export function siteGeofences(count: number, seed: number): Shape[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const eastM = (2 * random() - 1) * REGION_RADIUS_M;
    const northM = (2 * random() - 1) * REGION_RADIUS_M;
    const radiusM = Math.round(sizeM(random, 30, 150));
    if (random() < 0.5) return { type: 'circle', center: placeAt(eastM, northM), radiusM };
    const points = 4 + Math.floor(random() * 5);
    const turn = random();
    const ring = Array.from({ length: points }, (_, i): LngLat => {
      const angle = ((i + turn) / points) * 2 * Math.PI;
      return placeAt(eastM + radiusM * Math.cos(angle), northM + radiusM * Math.sin(angle));
    });
    return { type: 'polygon', rings: [[...ring, ring[0] as LngLat]] };
  });
}

/** Fixes of several vehicles in order of arrival: the first of each vehicle, the second of each, … */
export interface CityTrack {
  /** Number of vehicles: fix `i` is of vehicle `i % vehicles`. */
  vehicles: number;
  /** Seconds between two fixes of a vehicle. */
  intervalS: number;
  /** Degrees, rounded to 1e-7. */
  longitudes: Float64Array;
  latitudes: Float64Array;
  speedsKmh: Float64Array;
  /** Degrees from north, clockwise, 0 to 359. */
  coursesDeg: Int32Array;
}

/**
 * Vehicles that drive around the city of {@link cityGeofences}: along streets north, east, south and west, stopping now
 * and then, with a receiver error of a few metres. The same for the same seed.
 */
export function cityTrack(vehicles: number, fixesEach: number, seed: number, intervalS = 10): CityTrack {
  const random = randomFrom(seed);
  const length = vehicles * fixesEach;
  const track: CityTrack = {
    vehicles,
    intervalS,
    longitudes: new Float64Array(length),
    latitudes: new Float64Array(length),
    speedsKmh: new Float64Array(length),
    coursesDeg: new Int32Array(length),
  };
  for (let vehicle = 0; vehicle < vehicles; vehicle++) {
    let eastM = offsetM(random);
    let northM = offsetM(random);
    let quarter = Math.floor(random() * 4);
    let speedKmh = 20 + 60 * random();
    for (let fix = 0; fix < fixesEach; fix++) {
      const i = fix * vehicles + vehicle;
      const choice = random();
      if (choice < 0.1) quarter = (quarter + (choice < 0.05 ? 1 : 3)) % 4;
      else if (choice < 0.15) speedKmh = 0;
      else if (choice < 0.35) speedKmh = 15 + 75 * random();
      // Turn back towards the centre when leaving the city.
      if (Math.abs(eastM) > CITY_RADIUS_M) quarter = eastM > 0 ? 3 : 1;
      if (Math.abs(northM) > CITY_RADIUS_M) quarter = northM > 0 ? 2 : 0;
      const stepM = (speedKmh / 3.6) * intervalS;
      eastM += quarter === 1 ? stepM : quarter === 3 ? -stepM : 0;
      northM += quarter === 0 ? stepM : quarter === 2 ? -stepM : 0;
      const [longitude, latitude] = placeAt(eastM + 6 * (random() - 0.5), northM + 6 * (random() - 0.5));
      track.longitudes[i] = longitude;
      track.latitudes[i] = latitude;
      track.speedsKmh[i] = Math.round(speedKmh * 10) / 10;
      track.coursesDeg[i] = quarter * 90;
    }
  }
  return track;
}
