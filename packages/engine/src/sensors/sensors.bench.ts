import { fileURLToPath } from 'node:url';
import {
  blankPosition,
  type DefinitionChange,
  type FleetEvent,
  type Sensor,
  type SensorId,
  type SensorThreshold,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { sampleSensor, sampleVehicle } from '@outrider/domain/samples';
import { type CityTrack, cityTrack } from '@outrider/geo/generate';
import { Stopwatch } from '../engine.bench.ts';
import { Engine } from '../engine.ts';

const NOTHING_BEYOND: SensorThreshold = {
  id: '00000000-0000-7000-8000-0000000000a1',
  condition: 'above',
  min: null,
  max: 200,
  hysteresis: 1,
  forSeconds: 60,
};

/** Sensors of the vehicles in the cases of the benchmark. */
export type SensorSet = 'none' | 'five shown' | 'five, one with a threshold and one a median' | 'five with thresholds';
export const sensorSets: readonly SensorSet[] = [
  'none',
  'five shown',
  'five, one with a threshold and one a median',
  'five with thresholds',
];

/** Result for one set, measured alternately with the others, for the same packets. */
export interface SensorsRow {
  sensors: SensorSet;
  positionsPerSecond: number;
  positionsPerCpuSecond: number;
  /** Processor seconds for a million positions. */
  cpuSecondsPerMillion: number;
  /** Positions a CPU second relative to vehicles without sensors. */
  ratio: number;
  /** The same when the states of all vehicles are taken after every tenth position of each. */
  ratioWithStates: number;
}

const T0 = Date.UTC(2026, 2, 1);
const VEHICLES = 2000;
const FIXES_EACH = 200;
const FEWEST_ROUNDS = 4;
const STATES_EVERY = 10;

/** A van: linear cargo temperature, a digital input, supply voltage in a range, tank by a table, tyre pressure. */
export function sensorsOf(set: SensorSet): Sensor[] {
  if (set === 'none') return [];
  const table = Array.from({ length: 20 }, (_, n) => ({ raw: n * 200, value: n * n }));
  const line = [
    { raw: 0, value: -40 },
    { raw: 1000, value: 60 },
  ];
  const five: Partial<Sensor>[] = [
    { name: 'Cargo', kind: 'temperature', source: 'analog1V * 100', calibration: line },
    { name: 'Door', kind: 'digital', source: 'input2' },
    { name: 'Supply', kind: 'voltage', source: 'supplyV', validMin: 5, validMax: 40 },
    { name: 'Tank', kind: 'fuel-level', source: 'fuelLevel1', calibration: table, outside: 'clamp' },
    { name: 'Tyre', kind: 'tyre-pressure', source: 'tyre1Kpa' },
  ];
  if (set === 'five, one with a threshold and one a median') {
    Object.assign(five[0] as object, { thresholds: [NOTHING_BEYOND] });
    Object.assign(five[3] as object, { smoothing: 5 });
  }
  const most = { ...NOTHING_BEYOND, max: 5000 };
  if (set === 'five with thresholds') for (const each of five) each.thresholds = [most];
  return five.map((each, n) => sampleSensor({ id: idOf(9_000_000 + n) as SensorId, ...each }));
}

/**
 * Measures the rules for vehicles with sensors and without alternately, for the same packets of one position each.
 * There are no geofences and no limits, whose cost would hide that of the sensors.
 */
export function benchSensors(seconds = 2): SensorsRow[] {
  const track = cityTrack(VEHICLES, FIXES_EACH, 7, 1);
  const cases = sensorSets.map((set) => {
    const engine = new Engine();
    engine.load(Array.from({ length: VEHICLES }, (_, n) => vehicleChange(n, set)));
    return { set, engine, rules: new Stopwatch(), both: new Stopwatch() };
  });
  const events: FleetEvent[] = [];
  const until = performance.now() + cases.length * seconds * 1000;
  for (let round = 0; round < FEWEST_ROUNDS || performance.now() < until; round++) {
    for (let fix = 0; fix < FIXES_EACH; fix++) {
      const packets = packetsOf(track, round, fix);
      // In rotation: the first one loads the packets into the processor's cache.
      for (let nth = 0; nth < cases.length; nth++) {
        const { engine, rules, both } = cases[(nth + fix) % cases.length] as (typeof cases)[number];
        rules.start();
        both.start();
        for (const packet of packets) {
          engine.process(packet, round * FIXES_EACH + fix, events);
          events.length = 0;
        }
        rules.stop();
        if (fix % STATES_EVERY === STATES_EVERY - 1) engine.takeUpdated();
        both.stop();
      }
    }
    for (const { rules, both } of cases) {
      rules.endRound();
      both.endRound();
    }
  }
  const positions = VEHICLES * FIXES_EACH;
  const [none] = cases;
  return cases.map(({ set, rules, both }) => ({
    sensors: set,
    positionsPerSecond: Math.round((positions * 1000) / rules.fastestWallMs),
    positionsPerCpuSecond: Math.round((positions * 1000) / rules.fastestCpuMs),
    cpuSecondsPerMillion: rounded((rules.fastestCpuMs * 1000) / positions),
    ratio: rounded((none?.rules.fastestCpuMs ?? Number.NaN) / rules.fastestCpuMs),
    ratioWithStates: rounded((none?.both.fastestCpuMs ?? Number.NaN) / both.fastestCpuMs),
  }));
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function vehicleChange(n: number, set: SensorSet): DefinitionChange {
  const id = idOf(n) as VehicleId;
  const definition = sampleVehicle({ id, name: `Vehicle ${n}`, sensors: sensorsOf(set) });
  return { kind: 'vehicle', id, version: 1, changedAtMs: T0, definition };
}

/** The packet of each vehicle with one fix: forward in one round, back in the next. */
function packetsOf(track: CityTrack, round: number, fix: number): TelemetryPacket[] {
  return Array.from({ length: VEHICLES }, (_, n) => {
    const i = (round % 2 === 0 ? fix : FIXES_EACH - 1 - fix) * VEHICLES + n;
    const fixTimeMs = T0 + (round * FIXES_EACH + fix) * 1000;
    const position = blankPosition(fixTimeMs, track.latitudes[i] as number, track.longitudes[i] as number);
    position.speedKmh = track.speedsKmh[i] as number;
    position.courseDeg = track.coursesDeg[i] as number;
    position.supplyV = 24 + (n % 5) / 10;
    position.attributes = {
      ...{ input1: true, input2: fix % 50 === 0, analog1V: 3 + ((fix + n) % 40) / 10, rpm: 1400 + fix },
      ...{ fuelLevel1: 2000 + ((fix * 7 + n) % 300), tyre1Kpa: 800 + (fix % 3), tyre2Kpa: 810, gsmSignal: 4 },
    };
    return {
      vehicleId: idOf(n) as VehicleId,
      terminalId: String(n) as TerminalId,
      protocol: 'omnicomm',
      receivedAtMs: fixTimeMs,
      positions: [position],
    };
  });
}

function idOf(n: number): string {
  return `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(benchSensors());
