import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, VEHICLE_DEFAULTS, type VehicleId, type VehicleStatus } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { PORT_VARIABLES } from '@outrider/protocols';
import { createLogger, readConfig } from '@outrider/runtime';
import { variables } from '../../../services/outrider/src/config.ts';
import { startOutrider } from '../../../services/outrider/src/outrider.ts';
import type { Stores } from '../../../services/outrider/src/stores.ts';

const LOGIN = 'admin';
const PASSWORD = 'a password for the benchmark';

/** The whole service in this process, with vehicles that move when `move` is called. */
export interface ConsoleService {
  url: string;
  login: string;
  password: string;
  /** Where they are before they move. */
  places: { latitude: number; longitude: number }[];
  /** Gives every vehicle a new position. */
  move(): Promise<void>;
  stop(): Promise<void>;
}

/** Vehicles stand in a square around this place, and drive to the north-east. */
const CENTER = { latitude: 47, longitude: 20 };
const SPREAD_DEGREES = 1.2;
const STEP_DEGREES = 0.0004;
const SECONDS_BETWEEN = 5;

/** Where a vehicle is after some rounds. */
function placeOf(nth: number, count: number, round: number): { latitude: number; longitude: number } {
  const side = Math.ceil(Math.sqrt(count));
  const part = (index: number) => (index / side - 0.5) * SPREAD_DEGREES + round * STEP_DEGREES;
  return {
    latitude: CENTER.latitude + part(Math.floor(nth / side)),
    longitude: CENTER.longitude + part(nth % side),
  };
}

/** Starts the service with so many vehicles, all of which have a position. */
export async function startConsoleService(count: number): Promise<ConsoleService> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
  const config = readConfig(variables, {
    DATA_DIR: join(folder, 'data'),
    HOST: '127.0.0.1',
    ADMIN_PASSWORD: PASSWORD,
    ...Object.fromEntries(PORT_VARIABLES.filter((name) => !name.includes('_TLS_')).map((name) => [name, '0'])),
    PORT: '0',
    VIDEO_MEDIA_PORT: '0',
    // What a benchmark of one page asks for in a minute is not what is measured.
    LIMIT_AUTHORIZED_PER_MINUTE: '100000',
    LIMIT_UNAUTHORIZED_PER_MINUTE: '100000',
  });
  const startMs = Date.now() - 3_600_000;
  let ids: VehicleId[] = [];
  let hub: Stores['hub'] | null = null;
  let round = 0;
  const move = async () => {
    const atMs = startMs + round * SECONDS_BETWEEN * 1000;
    await hub?.updateLatest(ids.map((id, nth) => statusOf(id, placeOf(nth, count, round), atMs, startMs)));
    round += 1;
  };
  const outrider = await startOutrider(config, createLogger('error', 'text'), async (stores) => {
    const outcomes = await stores.registry.vehicles.writeAll(
      Array.from({ length: count }, (_, nth) => ({
        id: null,
        fields: { ...VEHICLE_DEFAULTS, name: `Vehicle ${nth + 1}`, dealerId: null, groupIds: [] },
      })) as never,
      false,
    );
    ids = outcomes.map(({ definition }) => definition.id as VehicleId);
    hub = stores.hub;
  });
  await move();
  return {
    login: LOGIN,
    password: PASSWORD,
    places: Array.from({ length: count }, (_, nth) => placeOf(nth, count, 0)),
    url: `http://127.0.0.1:${outrider.ports.http}`,
    move,
    async stop() {
      await outrider.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function statusOf(
  id: VehicleId,
  { latitude, longitude }: { latitude: number; longitude: number },
  atMs: number,
  sinceMs: number,
): VehicleStatus {
  const position = { ...blankPosition(atMs, latitude, longitude), speedKmh: 32, courseDeg: 45, ignition: true };
  const activity = {
    state: 'moving' as const,
    sinceMs,
    ignition: true,
    alarms: [],
    geofenceIds: [],
    speeding: [],
  };
  return sampleStatus(id, position, atMs + 500, { activity });
}
