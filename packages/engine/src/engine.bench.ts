import { fileURLToPath } from 'node:url';
import {
  blankPosition,
  type Definition,
  type DefinitionChange,
  type FleetEvent,
  type GeofenceId,
  type Shape,
  type TelemetryPacket,
  type TerminalId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { boundingBox, prepareShape } from '@outrider/geo';
import { type CityTrack, cityGeofences, cityTrack } from '@outrider/geo/generate';
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon';
import { distance } from '@turf/distance';
import Flatbush from 'flatbush';
import { Engine } from './engine.ts';

/** What was measured with one number of geofences, all of one owner, over one city. */
export interface EngineRow {
  geofences: number;
  /** Seconds between two fixes of a vehicle. */
  intervalS: number;
  positionsPerPacket: number;
  /** Positions a second through the whole engine on one core: visits, speeding of vehicle and geofence, states. */
  positionsPerSecond: number;
  /** Positions a second of flatbush with turf that do nothing but find the geofences that contain them. */
  baselinePositionsPerSecond: number;
  /** How many times faster the engine is than that. */
  ratio: number;
  eventsPerThousand: number;
  /** Encoding the states of all vehicles for a checkpoint: microseconds and bytes for each. */
  encodeUsPerVehicle: number;
  bytesPerVehicle: number;
}

const T0 = Date.UTC(2026, 2, 1);
const VEHICLES = 2000;
const FIXES_EACH = 200;
const OWNER = '00000000-0000-7000-8000-00000000aaaa' as UserId;

/**
 * Measures the engine beside the bare containment by flatbush and turf, for the same positions in the same run. Every third
 * vehicle has a speed limit, every tenth geofence too. How often fixes are taken decides how many of them make an event: at
 * 10 seconds a car is in another yard at nearly each fix, in so dense a city.
 */
export function benchEngine(
  counts: readonly number[],
  { intervalS = 1, positionsPerPacket = 10, seconds = 2 } = {},
): EngineRow[] {
  const track = cityTrack(VEHICLES, FIXES_EACH, 7, intervalS);
  const positions = VEHICLES * FIXES_EACH;
  return counts.map((geofences) => {
    const shapes = cityGeofences(geofences, 42);
    const engine = new Engine();
    engine.load(definitionsOf(shapes).map(changeTo));
    engine.takeChanges();
    const events: FleetEvent[] = [];
    let made = 0;
    let elapsedMs = 0;
    let rounds = 0;
    let offset = 0;
    // The first round warms up. Every round is the same drive an hour later: the same fixes again would be late data.
    for (let round = 0; round === 0 || elapsedMs < seconds * 1000; round++) {
      const packets = packetsOf(track, positionsPerPacket, T0 + round * (FIXES_EACH * intervalS + 3600) * 1000);
      const before = made;
      const began = performance.now();
      for (const packet of packets) {
        engine.process(packet, offset++, events);
        made += events.length;
        events.length = 0;
      }
      if (round === 0) made = before;
      else {
        elapsedMs += performance.now() - began;
        rounds++;
      }
      engine.takeMoved();
    }
    const began = performance.now();
    const states = engine.takeChanges();
    const encodeMs = performance.now() - began;
    const positionsPerSecond = Math.round((rounds * positions * 1000) / elapsedMs);
    const baselinePositionsPerSecond = benchBaseline(shapes, track, seconds);
    return {
      geofences,
      intervalS,
      positionsPerPacket,
      positionsPerSecond,
      baselinePositionsPerSecond,
      ratio: Math.round((positionsPerSecond / baselinePositionsPerSecond) * 10) / 10,
      eventsPerThousand: Math.round((made * 10_000) / (positions * rounds)) / 10,
      encodeUsPerVehicle: Math.round((encodeMs * 10_000) / states.length) / 10,
      bytesPerVehicle: Math.round(states.reduce((sum, [, value]) => sum + (value?.length ?? 0), 0) / states.length),
    };
  });
}

function changeTo(definition: Definition): DefinitionChange {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs: T0, definition };
}

function definitionsOf(shapes: readonly Shape[]): Definition[] {
  const definitions: Definition[] = [
    {
      kind: 'user',
      id: OWNER,
      version: 1,
      login: 'operator',
      name: 'Operator',
      role: 'operator',
      dealerId: null,
      blocked: false,
      apiAccess: true,
      groupIds: [],
    },
  ];
  for (let n = 0; n < VEHICLES; n++)
    definitions.push({
      kind: 'vehicle',
      id: idOf(n) as VehicleId,
      version: 1,
      name: `Vehicle ${n}`,
      plate: null,
      terminalId: null,
      dealerId: null,
      groupIds: [],
      speedLimitKmh: n % 3 === 0 ? 80 : null,
      speedToleranceKmh: 5,
      speedingMinSeconds: 0,
      offlineAfterMinutes: 10,
    });
  for (const [n, shape] of shapes.entries())
    definitions.push({
      kind: 'geofence',
      id: idOf(1_000_000 + n) as GeofenceId,
      version: 1,
      name: `Geofence ${n}`,
      ownerId: OWNER,
      shape,
      groupIds: null,
      speedLimitKmh: n % 10 === 0 ? 60 : null,
      minDwellSeconds: 0,
    });
  return definitions;
}

function packetsOf(track: CityTrack, positionsPerPacket: number, startMs: number): TelemetryPacket[] {
  const packets: TelemetryPacket[] = [];
  for (let first = 0; first < FIXES_EACH; first += positionsPerPacket) {
    for (let n = 0; n < VEHICLES; n++) {
      const positions = [];
      for (let fix = first; fix < Math.min(FIXES_EACH, first + positionsPerPacket); fix++) {
        const i = fix * VEHICLES + n;
        const fixTimeMs = startMs + fix * track.intervalS * 1000;
        const position = blankPosition(fixTimeMs, track.latitudes[i] as number, track.longitudes[i] as number);
        position.speedKmh = track.speedsKmh[i] as number;
        position.courseDeg = track.coursesDeg[i] as number;
        positions.push(position);
      }
      packets.push({
        vehicleId: idOf(n) as VehicleId,
        terminalId: String(n) as TerminalId,
        protocol: 'omnicomm',
        receivedAtMs: positions.at(-1)?.fixTimeMs ?? startMs,
        positions,
      });
    }
  }
  return packets;
}

function idOf(n: number): string {
  return `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** A tree of boxes, then turf; a street, for which turf has no ready test, is asked of its prepared shape. */
function benchBaseline(shapes: readonly Shape[], { longitudes, latitudes }: CityTrack, seconds: number): number {
  const boxes = new Flatbush(shapes.length);
  const tests = shapes.map((shape): ((point: [number, number]) => boolean) => {
    const [west, south, east, north] = boundingBox(shape);
    boxes.add(west, south, east, north);
    if (shape.type === 'polygon') {
      const coordinates = shape.rings.map((ring) => ring.map(([x, y]) => [x, y]));
      const bbox: [number, number, number, number] = [west, south, east, north];
      const feature = {
        type: 'Feature' as const,
        bbox,
        properties: {},
        geometry: { type: 'Polygon' as const, coordinates },
      };
      return (point) => booleanPointInPolygon(point, feature);
    }
    if (shape.type === 'circle') {
      const center = [...shape.center];
      return (point) => distance(center, point, { units: 'meters' }) <= shape.radiusM;
    }
    const prepared = prepareShape(shape);
    return ([longitude, latitude]) => prepared.contains(longitude, latitude);
  });
  boxes.finish();

  // With many geofences a part of the positions is enough.
  const step = shapes.length > 20_000 ? 10 : 1;
  let asked = 0;
  let elapsedMs = 0;
  for (let round = 0; round === 0 || elapsedMs < seconds * 1000; round++) {
    const began = performance.now();
    let hits = 0;
    for (let i = 0; i < longitudes.length; i += step) {
      const x = longitudes[i] as number;
      const y = latitudes[i] as number;
      for (const key of boxes.search(x, y, x, y)) if (tests[key]?.([x, y])) hits++;
    }
    if (hits === 0) throw new Error('no position is in any geofence: nothing was measured');
    if (round === 0) continue;
    elapsedMs += performance.now() - began;
    asked += Math.ceil(longitudes.length / step);
  }
  return Math.round((asked * 1000) / elapsedMs);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const counts = [100, 10_000, 100_000];
  console.table([...benchEngine(counts, { intervalS: 1 }), ...benchEngine(counts, { intervalS: 10 })]);
}
