import { fileURLToPath } from 'node:url';
import {
  blankPosition,
  type Definition,
  type DefinitionChange,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  NO_CUSTOM_FIELDS,
  type Shape,
  type TelemetryPacket,
  type TerminalId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { baselineOf } from '@outrider/geo/bench';
import { type CityTrack, cityGeofences, cityTrack, siteGeofences } from '@outrider/geo/generate';
import { Engine } from './engine.ts';
import { type PlainEvent, PlainRules } from './plain-rules.bench.ts';

/**
 * Distribution of the geofences:
 * - `sites`: yards of customers, 30 to 150 m of radius, spread evenly over the region that the vehicles drive in;
 * - `dense city`: districts, yards and streets of up to 800 m, most of them overlapping in the middle of a city.
 */
export type Scene = 'sites' | 'dense city';

/** Parameters of a measurement: geofences of one owner, and 2,000 vehicles that drive among them. */
export interface EngineCase {
  scene: Scene;
  geofences: number;
  /** Seconds between two fixes of a vehicle. */
  intervalS: number;
  positionsPerPacket: number;
}

/** Result of a measurement. CPU seconds are those of the measuring thread, whatever else the machine does. */
export interface EngineRow extends EngineCase {
  /** Positions a second through the whole engine on one core: visits, speeding of vehicle and geofence, states. */
  positionsPerSecond: number;
  positionsPerCpuSecond: number;
  /** Positions a CPU second of flatbush with turf when they only find the geofences that contain each position. */
  baselinePositionsPerCpuSecond: number;
  /** Speed of the engine relative to that. */
  ratio: number;
  /**
   * Positions a CPU second of rules made with flatbush and turf that derive most of what the engine derives; see {@link
   * PlainRules}.
   */
  plainRulesPositionsPerCpuSecond: number;
  /** Speed of the engine relative to those rules. */
  plainRulesRatio: number;
  eventsPerThousand: number;
  /** Cost of encoding the states of all vehicles for a checkpoint: microseconds and bytes per vehicle. */
  encodeUsPerVehicle: number;
  bytesPerVehicle: number;
}

/** Dense and sparse, few geofences and many, frequent and rare fixes, single and batched in packets. */
export const engineCases: readonly EngineCase[] = [
  { scene: 'dense city', geofences: 100, intervalS: 1, positionsPerPacket: 10 },
  { scene: 'dense city', geofences: 10_000, intervalS: 1, positionsPerPacket: 10 },
  { scene: 'dense city', geofences: 100_000, intervalS: 1, positionsPerPacket: 10 },
  { scene: 'sites', geofences: 100, intervalS: 1, positionsPerPacket: 10 },
  { scene: 'sites', geofences: 10_000, intervalS: 1, positionsPerPacket: 10 },
  { scene: 'sites', geofences: 100_000, intervalS: 1, positionsPerPacket: 10 },
  { scene: 'dense city', geofences: 10_000, intervalS: 1, positionsPerPacket: 1 },
  { scene: 'sites', geofences: 10_000, intervalS: 1, positionsPerPacket: 1 },
  { scene: 'dense city', geofences: 10_000, intervalS: 10, positionsPerPacket: 10 },
  { scene: 'sites', geofences: 10_000, intervalS: 10, positionsPerPacket: 10 },
];

const T0 = Date.UTC(2026, 2, 1);
const VEHICLES = 2000;
const FIXES_EACH = 200;
const OWNERS = 10_000_000;
const GROUPS = 20_000_000;

/**
 * Measures the engine and the bare containment by flatbush and turf alternately, for the same positions in the same
 * order. Every third vehicle has a speed limit, every tenth geofence too. The interval of the fixes decides how many of
 * them cause an event: at 10 seconds a car in such a dense city is in another yard at nearly each fix.
 */
export function benchEngine({ scene, geofences, intervalS, positionsPerPacket }: EngineCase, seconds = 2): EngineRow {
  const track = cityTrack(VEHICLES, FIXES_EACH, 7, intervalS);
  const shapes = scene === 'sites' ? siteGeofences(geofences, 42) : cityGeofences(geofences, 42);
  const engine = new Engine();
  engine.load(definitionsOf(shapes).map(changeTo));
  engine.takeChanges();
  const baseline = baselineOf(shapes);
  const plainRules = new PlainRules(
    shapes,
    shapes.map((_, n) => geofenceLimitKmh(n)),
    new Map(
      Array.from({ length: VEHICLES }, (_, n) => [idOf(n) as VehicleId, vehicleLimitKmh(n)] as const).filter(
        (pair): pair is [VehicleId, number] => pair[1] !== null,
      ),
    ),
  );
  const plainEvents: PlainEvent[] = [];
  const hits = new Int32Array(geofences);
  const places = placesOf(track, positionsPerPacket);
  const events: FleetEvent[] = [];
  let made = 0;
  let offset = 0;
  const engineTime = new Stopwatch();
  const baselineTime = new Stopwatch();
  const plainRulesTime = new Stopwatch();
  const until = performance.now() + 3 * seconds * 1000;
  for (let round = 0; round < FEWEST_ROUNDS || performance.now() < until; round++) {
    made = 0;
    for (let first = 0; first < FIXES_EACH; first += positionsPerPacket) {
      // Packets are created just before, as a decoder does, outside the measured time.
      const packets = packetsOf(track, round, first, positionsPerPacket);
      engineTime.start();
      for (const packet of packets) {
        engine.process(packet, offset++, events);
        made += events.length;
        events.length = 0;
      }
      engineTime.stop();
      plainRulesTime.start();
      for (const packet of packets) {
        plainRules.process(packet, plainEvents);
        plainEvents.length = 0;
      }
      plainRulesTime.stop();
    }
    engineTime.endRound();
    plainRulesTime.endRound();
    engine.takeUpdated();
    baselineTime.start();
    for (let i = 0; i < places.length; i += 2) baseline(places[i] as number, places[i + 1] as number, hits);
    baselineTime.stop();
    baselineTime.endRound();
  }
  const began = performance.now();
  const states = engine.takeChanges();
  const encodeMs = performance.now() - began;
  const positions = VEHICLES * FIXES_EACH;
  return {
    scene,
    geofences,
    intervalS,
    positionsPerPacket,
    positionsPerSecond: Math.round((positions * 1000) / engineTime.fastestWallMs),
    positionsPerCpuSecond: Math.round((positions * 1000) / engineTime.fastestCpuMs),
    baselinePositionsPerCpuSecond: Math.round((positions * 1000) / baselineTime.fastestCpuMs),
    ratio: Math.round((10 * baselineTime.fastestCpuMs) / engineTime.fastestCpuMs) / 10,
    plainRulesPositionsPerCpuSecond: Math.round((positions * 1000) / plainRulesTime.fastestCpuMs),
    plainRulesRatio: Math.round((10 * plainRulesTime.fastestCpuMs) / engineTime.fastestCpuMs) / 10,
    eventsPerThousand: Math.round((made * 10_000) / positions) / 10,
    encodeUsPerVehicle: Math.round((encodeMs * 10_000) / states.length) / 10,
    bytesPerVehicle: Math.round(states.reduce((sum, [, value]) => sum + (value?.length ?? 0), 0) / states.length),
  };
}

/** Cost of other owners' geofences. */
export interface OwnersRow {
  owners: number;
  geofencesEach: number;
  positionsPerCpuSecond: number;
  eventsPerThousand: number;
  /** Cost of a position relative to a single owner. */
  cost: number;
}

/**
 * Measures what a position costs among many owners' geofences, all over the same city, relative to a single owner with
 * as many geofences as each of them. Both are measured alternately for the same positions. Each vehicle is visible to
 * one of the owners.
 */
export function benchOwners(owners: number, geofencesEach: number, seconds = 2): OwnersRow[] {
  const track = cityTrack(VEHICLES, FIXES_EACH, 7, 1);
  const cases = [1, owners].map((count) => {
    const engine = new Engine();
    engine.load(definitionsOf(cityGeofences(count * geofencesEach, 42), count).map(changeTo));
    return { count, engine, time: new Stopwatch(), made: 0 };
  });
  const events: FleetEvent[] = [];
  const until = performance.now() + 2 * seconds * 1000;
  for (let round = 0; round < FEWEST_ROUNDS || performance.now() < until; round++) {
    for (const one of cases) one.made = 0;
    for (let first = 0; first < FIXES_EACH; first += 10) {
      const packets = packetsOf(track, round, first, 10);
      for (const one of cases) {
        one.time.start();
        for (const packet of packets) {
          one.engine.process(packet, round * FIXES_EACH + first, events);
          one.made += events.length;
          events.length = 0;
        }
        one.time.stop();
      }
    }
    for (const { engine, time } of cases) {
      time.endRound();
      engine.takeUpdated();
    }
  }
  const positions = VEHICLES * FIXES_EACH;
  const alone = cases[0]?.time.fastestCpuMs ?? Number.NaN;
  return cases.map(({ count, time, made }) => ({
    owners: count,
    geofencesEach,
    positionsPerCpuSecond: Math.round((positions * 1000) / time.fastestCpuMs),
    eventsPerThousand: Math.round((made * 10_000) / positions) / 10,
    cost: Math.round((100 * time.fastestCpuMs) / alone) / 100,
  }));
}

const FEWEST_ROUNDS = 4;

/** Time of the fastest of several rounds: other load on the machine can only slow a round down. */
export class Stopwatch {
  fastestWallMs = Number.POSITIVE_INFINITY;
  /** CPU time of this thread. */
  fastestCpuMs = Number.POSITIVE_INFINITY;
  #wallMs = 0;
  #cpuMs = 0;
  #startMs = 0;
  #cpu: NodeJS.CpuUsage = { user: 0, system: 0 };

  start(): void {
    this.#cpu = process.threadCpuUsage();
    this.#startMs = performance.now();
  }

  stop(): void {
    this.#wallMs += performance.now() - this.#startMs;
    const { user, system } = process.threadCpuUsage(this.#cpu);
    this.#cpuMs += (user + system) / 1000;
  }

  endRound(): void {
    this.fastestWallMs = Math.min(this.fastestWallMs, this.#wallMs);
    this.fastestCpuMs = Math.min(this.fastestCpuMs, this.#cpuMs);
    this.#wallMs = 0;
    this.#cpuMs = 0;
  }
}

/** Longitude and latitude of all fixes, in the order in which the packets contain them. */
function placesOf({ longitudes, latitudes }: CityTrack, positionsPerPacket: number): Float64Array {
  const places = new Float64Array(2 * VEHICLES * FIXES_EACH);
  let at = 0;
  for (let first = 0; first < FIXES_EACH; first += positionsPerPacket)
    for (let n = 0; n < VEHICLES; n++)
      for (let fix = first; fix < first + positionsPerPacket; fix++) {
        places[at++] = longitudes[fix * VEHICLES + n] as number;
        places[at++] = latitudes[fix * VEHICLES + n] as number;
      }
  return places;
}

function changeTo(definition: Definition): DefinitionChange {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs: T0, definition };
}

function vehicleLimitKmh(n: number): number | null {
  return n % 3 === 0 ? 80 : null;
}

function geofenceLimitKmh(n: number): number | null {
  return n % 10 === 0 ? 60 : null;
}

/** Owners with equally many vehicles and geofences each. No vehicle is visible to two of them. */
function definitionsOf(shapes: readonly Shape[], owners = 1): Definition[] {
  const definitions: Definition[] = Array.from({ length: owners }, (_, n) => ({
    kind: 'user',
    id: idOf(OWNERS + n) as UserId,
    version: 1,
    login: `owner-${n}`,
    name: `Owner ${n}`,
    role: 'user',
    dealerId: null,
    blocked: false,
    apiAccess: true,
    services: [],
    rights: [],
    ...NO_CUSTOM_FIELDS,
    groupIds: [idOf(GROUPS + n) as GroupId],
  }));
  for (let n = 0; n < VEHICLES; n++)
    definitions.push(
      sampleVehicle({
        id: idOf(n) as VehicleId,
        name: `Vehicle ${n}`,
        groupIds: [idOf(GROUPS + (n % owners)) as GroupId],
        speedLimitKmh: vehicleLimitKmh(n),
        speedToleranceKmh: 5,
      }),
    );
  for (const [n, shape] of shapes.entries())
    definitions.push({
      kind: 'geofence',
      id: idOf(1_000_000 + n) as GeofenceId,
      version: 1,
      name: `Geofence ${n}`,
      ownerId: idOf(OWNERS + (n % owners)) as UserId,
      shape,
      groupIds: null,
      speedLimitKmh: geofenceLimitKmh(n),
      minDwellSeconds: 0,
      color: null,
      description: null,
      category: null,
      sharedWithOrganisation: false,
      sharedGroupIds: [],
      ...NO_CUSTOM_FIELDS,
    });
  return definitions;
}

/**
 * One packet of each vehicle, starting at a fix of a round. Vehicles drive forward in one round and back in the next,
 * without a break: repeating the same fixes would be late data, and a leap to the start would be another trip.
 */
function packetsOf(track: CityTrack, round: number, first: number, positionsPerPacket: number): TelemetryPacket[] {
  return Array.from({ length: VEHICLES }, (_, n) => {
    const positions = Array.from({ length: positionsPerPacket }, (_, k) => {
      const nth = round % 2 === 0 ? first + k : FIXES_EACH - 1 - first - k;
      const i = nth * VEHICLES + n;
      const fixTimeMs = T0 + (round * FIXES_EACH + first + k) * track.intervalS * 1000;
      const position = blankPosition(fixTimeMs, track.latitudes[i] as number, track.longitudes[i] as number);
      position.speedKmh = track.speedsKmh[i] as number;
      position.courseDeg = track.coursesDeg[i] as number;
      return position;
    });
    return {
      vehicleId: vehicleIdOf(n),
      terminalId: String(n) as TerminalId,
      protocol: 'omnicomm',
      receivedAtMs: positions.at(-1)?.fixTimeMs ?? T0,
      positions,
    };
  });
}

const ID_LENGTH = 36;
const vehicleIds = Buffer.from(Array.from({ length: VEHICLES }, (_, n) => idOf(n)).join(''));

/** Creates a new string at each call, as reading a packet from the log does. */
function vehicleIdOf(n: number): VehicleId {
  return vehicleIds.toString('latin1', n * ID_LENGTH, (n + 1) * ID_LENGTH) as VehicleId;
}

function idOf(n: number): string {
  return `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.table(engineCases.map((one) => benchEngine(one)));
  console.table(benchOwners(1000, 100));
}
