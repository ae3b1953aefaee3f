import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { connectTerminal, createRandom, type TerminalClient } from '@outrider/simulator';
import { driveRound, onCircuit, placeAt } from '../../services/outrider/src/circuit.fixture.ts';
import type { PlainGeofence } from '../../services/outrider/src/plain-rules.fixture.ts';
import type { Access } from './access.ts';

export const SPEED_LIMIT_KMH = 60;
/**
 * How long ago drives begin: fixes are made faster than real time, and must not be in the future for clocks that are
 * days late.
 */
const BEGAN_AGO_MS = 30 * 86_400_000;
const RECORD_EVERY_MS = 150;
const MAX_STORED = 50_000;

const BOX = [placeAt(-1400, -300), placeAt(-900, -300), placeAt(-900, 300), placeAt(-1400, 300), placeAt(-1400, -300)];
/** So large that no two fixes jump over one. */
const SHAPES: readonly PlainGeofence['shape'][] = [
  { type: 'circle', center: onCircuit(0.1), radiusM: 200 },
  { type: 'polygon', rings: [BOX] },
  { type: 'line', path: [onCircuit(0.4), onCircuit(0.45), onCircuit(0.5)], widthM: 100 },
  { type: 'circle', center: onCircuit(0.9), radiusM: 220 },
];

/** A vehicle, and all that its terminal recorded. */
export interface Driven {
  vehicleId: VehicleId;
  sent: Position[];
  terminal: TerminalClient;
}

/** Definitions: vehicles, geofences, and a rule that notifies about all events. */
export interface Furnished {
  vehicles: { id: VehicleId; terminalId: TerminalId }[];
  geofences: PlainGeofence[];
}

export async function furnish(access: Access, vehicleCount: number): Promise<Furnished> {
  const geofences: PlainGeofence[] = [];
  for (const shape of SHAPES) {
    const feature = featureFromShape(shape);
    const body = { ...feature, properties: { ...feature.properties, name: `Depot ${geofences.length}` } };
    geofences.push({ id: (await access.call<{ id: string }>('POST', '/api/v1/geozones', body)).id, shape });
  }
  await access.call('POST', '/api/v1/notification-rules', {
    name: 'All of it',
    eventKinds: ['geofence-visit', 'speeding'],
    phases: ['begin', 'end'],
  });
  const vehicles: Furnished['vehicles'] = [];
  for (let nth = 0; nth < vehicleCount; nth++) {
    const terminalId = `35630704244${3000 + nth}` as TerminalId;
    const fields = { name: `Van ${nth}`, terminalId, speedLimitKmh: SPEED_LIMIT_KMH };
    vehicles.push({ id: (await access.call<{ id: VehicleId }>('POST', '/api/v1/vehicles', fields)).id, terminalId });
  }
  return { vehicles, geofences };
}

/** Terminals that record all the time, store what is not acknowledged, and reconnect to send it. */
export class Load {
  readonly driven: readonly Driven[];
  readonly #drives: Generator<Position, never>[];
  #recording: NodeJS.Timeout | null = null;

  constructor(seed: number, { vehicles }: Furnished, port: number) {
    const beganMs = Math.floor((Date.now() - BEGAN_AGO_MS) / 1000) * 1000;
    this.#drives = vehicles.map((_, nth) => driveRound(createRandom(seed + 1 + nth), beganMs));
    const chance = createRandom(seed);
    this.driven = vehicles.map(({ id, terminalId }) => ({
      vehicleId: id,
      sent: [],
      terminal: connectTerminal({
        protocol: 'teltonika',
        terminalId,
        host: '127.0.0.1',
        port,
        positionsPerPacket: 4,
        windowPackets: 2,
        maxStoredPositions: MAX_STORED,
        backoffMs: [100, 1000],
        replyTimeoutMs: 4000,
        random: chance.next,
      }),
    }));
  }

  get acknowledged(): number {
    return this.driven.reduce((sum, { terminal }) => sum + terminal.stats().acknowledged, 0);
  }

  get sent(): number {
    return this.driven.reduce((sum, { sent }) => sum + sent.length, 0);
  }

  go(): void {
    this.#recording ??= setInterval(() => {
      for (const [nth, { sent, terminal }] of this.driven.entries()) {
        const next = this.#drives[nth]?.next().value;
        if (next === undefined) continue;
        const position = asCarried(next);
        sent.push(position);
        terminal.record([position]);
      }
    }, RECORD_EVERY_MS);
  }

  pause(): void {
    if (this.#recording) clearInterval(this.#recording);
    this.#recording = null;
  }

  async close(): Promise<void> {
    this.pause();
    await Promise.all(this.driven.map(({ terminal }) => terminal.close()));
  }
}

/** The protocol has whole speeds, and seven decimals of a degree. */
function asCarried(position: Position): Position {
  return {
    ...position,
    latitude: Math.round(position.latitude * 1e7) / 1e7,
    longitude: Math.round(position.longitude * 1e7) / 1e7,
  };
}
