import { Agent, request } from 'node:http';
import type { LngLat } from '@outrider/domain';
import { createRandom } from '@outrider/simulator';
import { loadTerminalId, town } from '../drives.ts';
import { ADMIN_LOGIN, ADMIN_PASSWORD } from './service.ts';

const AT_A_TIME = 32;
/** Of one import, which takes 10,000 and 16 MB. */
const GEOFENCES_AT_ONCE = 2000;

/** The REST API as the operator uses it. */
export interface RestClient {
  jwt: string;
  /** @returns the answer's body. @throws {Error} when the answer is no success */
  post(path: string, body: unknown): Promise<unknown>;
  close(): void;
}

/** Logs in: as the operator where no other account is given. */
export async function openRest(
  { host, ports }: { host: string; ports: { http: number } },
  { login, password }: { login: string; password: string } = { login: ADMIN_LOGIN, password: ADMIN_PASSWORD },
): Promise<RestClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const sent = request(
        {
          method: 'POST',
          agent,
          host,
          port: ports.http,
          path,
          headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
        },
        (response) => {
          let answer = '';
          response.setEncoding('utf8');
          response.on('data', (part: string) => {
            answer += part;
          });
          response.on('error', reject);
          response.on('end', () => {
            const { statusCode = 0 } = response;
            if (statusCode < 300) resolve(JSON.parse(answer));
            else reject(new Error(`POST ${path} answered ${statusCode}: ${answer}`));
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  const { jwt } = (await post('/auth/login?jwt=1', { login, password })) as {
    jwt: string;
  };
  return {
    jwt,
    post: (path, body) => post(path, body, { Authorization: `JWT ${jwt}` }),
    close: () => agent.destroy(),
  };
}

/**
 * Makes the profiles of the load's vehicles.
 *
 * @returns their ids, in the order of their numbers
 */
export async function createVehicles(rest: RestClient, count: number): Promise<string[]> {
  const ids = new Array<string>(count);
  await manyAtATime(count, async (vehicle) => {
    const { id } = (await rest.post('/api/v1/vehicles', {
      name: `Load ${vehicle}`,
      terminalId: loadTerminalId(vehicle),
      speedLimitKmh: 60 + (vehicle % 4) * 10,
      speedToleranceKmh: 3,
    })) as { id: string };
    ids[vehicle] = id;
  });
  return ids;
}

/**
 * Makes geofences all over the town and around it: sites of 30 to 120 m as circles and polygons, one in ten a line, one
 * in ten with a limit of its own. With 10,000 of them every third position is in one, and a vehicle under way crosses a
 * boundary every 200 m or so.
 */
export async function createGeofences(rest: RestClient, count: number): Promise<void> {
  const features = geofenceFeatures(count);
  for (let from = 0; from < count; from += GEOFENCES_AT_ONCE)
    await rest.post('/api/v1/geozones/import', {
      type: 'FeatureCollection',
      features: features.slice(from, from + GEOFENCES_AT_ONCE),
    });
}

interface Feature {
  type: 'Feature';
  geometry: { type: 'Point' | 'LineString' | 'Polygon'; coordinates: unknown };
  properties: Record<string, unknown>;
}

/** @returns features as the REST API takes them, the same for the same count */
export function geofenceFeatures(count: number): Feature[] {
  const random = createRandom(7);
  const somewhere = (): LngLat => {
    const angle = random.between(0, 2 * Math.PI);
    const radiusM = 12_000 * Math.sqrt(random.next());
    return town.plane.toLngLat([radiusM * Math.cos(angle), radiusM * Math.sin(angle)]);
  };
  const offset = (from: LngLat, eastM: number, northM: number): LngLat => {
    const [x, y] = town.plane.toPoint(from);
    return town.plane.toLngLat([x + eastM, y + northM]);
  };
  return Array.from({ length: count }, (_, index): Feature => {
    const at = somewhere();
    const radiusM = Math.round(random.between(30, 120));
    const properties = {
      name: `Load ${index}`,
      speedLimitKmh: random.next() < 0.1 ? 50 : null,
    };
    if (index % 10 === 9) {
      const path = [at, offset(at, radiusM * 3, radiusM), offset(at, radiusM * 5, radiusM * 3)];
      return {
        type: 'Feature',
        geometry: { type: 'LineString', coordinates: path },
        properties: { ...properties, shape: 'line', widthM: 30 },
      };
    }
    if (index % 2 === 0)
      return {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: at },
        properties: { ...properties, shape: 'circle', radiusM },
      };
    const corners = 4 + Math.floor(random.next() * 9);
    const ring = Array.from({ length: corners }, (_, corner) => {
      const angle = (corner / corners) * 2 * Math.PI;
      const cornerM = radiusM * random.between(0.6, 1);
      return offset(at, cornerM * Math.cos(angle), cornerM * Math.sin(angle));
    });
    return {
      type: 'Feature',
      geometry: { type: 'Polygon', coordinates: [[...ring, ring[0]]] },
      properties: { ...properties, shape: 'polygon' },
    };
  });
}

async function manyAtATime(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(AT_A_TIME, count) }, async () => {
      while (next < count) await work(next++);
    }),
  );
}
