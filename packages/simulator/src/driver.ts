import { blankPosition, type Position } from '@outrider/domain';
import { type CargoPlan, type CargoState, cargoAttributes, newCargo, passCargo, unload } from './cargo.ts';
import { engineSpeedRpm } from './engine-speed.ts';
import { type LevelSensorPlan, levelAttributes } from './level-sensor.ts';
import { type PointM, spanM } from './plane.ts';
import { createRandom, type Random } from './random.ts';
import { findRoute, type Road, type RoadNetwork } from './roads.ts';
import { dutyFrom, type Shift } from './shift.ts';

/** Route of a vehicle, and the way it is driven. */
export interface DriverPlan {
  /** Junctions visited in turn, for ever. At least two, and none twice in a row. */
  stops: readonly number[];
  /** How long the vehicle stands at a stop, in seconds. */
  dwellSeconds: readonly [from: number, to: number];
  /**
   * `stop`: waits at the last of the stops and leaves it after that many seconds. `road`: is driving from the last of
   * the stops to the first, at the first point of that route that is within `withinM` of the junction `of`.
   */
  start: { at: 'stop'; leavesAfterSeconds: number } | { at: 'road'; of: number; withinM: number };
  /** Maximum share by which hurried drivers exceed a speed limit; 0 observes all limits. */
  haste: number;
  /** Top speed of the vehicle. */
  topSpeedKmh: number;
  /** Seconds between reports while the ignition is on. */
  reportSeconds: number;
  /** Seconds between reports while the ignition is off. */
  parkedReportSeconds: number;
  odometerM: number;
  fuelL: number;
  tankL: number;
  litresPer100Km: number;
  /** Weekly theft of fuel from the tank while the vehicle is parked. */
  robbery?: Robbery;
  /** A single change of the fuel level, up or down, while the vehicle is parked. */
  tankChange?: TankChange;
  /** Its terminal sends the raw values of a level sensor instead of litres. */
  levelSensor?: LevelSensorPlan;
  /** Some routes are driven harshly. Absent: none is. */
  rush?: Rush;
  /** Its terminal sends the engine speed. */
  sendsEngineSpeed?: true;
  /** Its body is refrigerated. */
  cargo?: CargoPlan;
  /** Hours outside of which the vehicle rests at the last of its stops. Absent: it is driven around the clock. */
  shift?: Shift;
}

/** A driver who is sometimes late. */
export interface Rush {
  /** Share of the routes that are driven harshly; the first route always is. */
  share: number;
  /** Factor by which acceleration, braking and cornering exceed the usual values. */
  force: number;
}

/** Time of a fuel theft, in this machine's time zone. */
export interface Robbery {
  /** 0 is Sunday. */
  weekday: number;
  /** Minutes from midnight. */
  fromMinute: number;
  minutes: number;
  litres: number;
}

/** A fuel level change at a constant rate; negative litres drain the tank. */
export interface TankChange {
  /** Unix milliseconds. */
  fromMs: number;
  minutes: number;
  litres: number;
}

/** Simulates the drive of a vehicle. */
export interface Driver {
  /** Drives until `timeMs` and returns the positions recorded since the last call; none when the time is not later. */
  advanceTo(timeMs: number): Position[];
  /** Current state of the drive: plain data from which {@link resumeDriver} continues. */
  state(): DriverState;
}

/** State of an interrupted drive, as plain data. */
export interface DriverState {
  nextStop: number;
  course: Course;
  vertex: number;
  alongM: number;
  /** m/s */
  speed: number;
  clockMs: number;
  haltedUntilMs: number;
  ignition: boolean;
  headingDeg: number;
  odometerM: number;
  fuelL: number;
  reportDueMs: number;
  noiseEastM: number;
  noiseNorthM: number;
  random: number;
  /** State of a refrigerated body. Absent: none exists, or an earlier version wrote this. */
  cargo?: CargoState;
}

/** Maximum length of a simulation step; shorter where the terminal records more often. */
const LONGEST_TICK_MS = 500;
const ACCELERATION = 1.6; // m/s², a loaded van
const BRAKING = 2.2; // m/s²
const SIDEWAYS = 2.4; // m/s², what cargo and passengers bear in a bend
/** A corner is rounded as if it were cut this long before and after the junction. */
const CORNER_CUT_M = 14;
const RED_LIGHT_CHANCE = 0.12;
const IDLING_LITRES_PER_HOUR = 0.9;
const LEFT_BY_THIEVES_L = 20;
const NOISE_M = 2.2;
/** GPS errors change slowly: share of the error that remains after one second. */
const NOISE_KEPT_PER_SECOND = 0.94;

/** A planned route: its vertices, with the speed that each allows. */
interface Course {
  points: PointM[];
  /** Distance from the start in metres, by vertex. */
  alongM: number[];
  /** Maximum speed in m/s at each vertex, low enough to observe those of all later vertices. */
  vertexSpeed: number[];
  /** Speed in m/s between each vertex and the next. */
  cruiseSpeed: number[];
  /** Seconds of waiting at each vertex (a red light). */
  waitSeconds: number[];
  /** Factor of harsh driving. Absent: driven as usual, or planned by an earlier version. */
  force?: number;
}

/**
 * Starts a drive. The same network, plan, seed and times give the same drive.
 *
 * @param startMs Unix milliseconds at which the drive begins; also the time of the first report
 * @throws {RangeError} when the network has no route between two of the plan's stops
 */
export function createDriver(network: RoadNetwork, plan: DriverPlan, seed: number, startMs: number): Driver {
  const random = createRandom(seed);
  const lastStop = plan.stops.at(-1);
  if (lastStop === undefined || plan.stops.length < 2)
    throw new RangeError('a driver needs two stops to drive between');
  const course = planCourse(network, plan, lastStop, plan.stops[0] as number, random, plan.rush?.force);
  const state: DriverState = {
    nextStop: 0,
    course,
    vertex: 0,
    alongM: 0,
    speed: 0,
    clockMs: startMs,
    haltedUntilMs: startMs,
    ignition: true,
    headingDeg: headingAt(course, 0),
    odometerM: plan.odometerM,
    fuelL: plan.fuelL,
    reportDueMs: startMs,
    noiseEastM: random.gauss() * NOISE_M,
    noiseNorthM: random.gauss() * NOISE_M,
    random: 0,
    ...(plan.cargo && { cargo: newCargo(plan.cargo) }),
  };
  if (plan.start.at === 'stop') {
    state.haltedUntilMs = startMs + plan.start.leavesAfterSeconds * 1000;
    if (state.cargo) unload(state.cargo, 1, startMs, state.haltedUntilMs);
  } else {
    const place = network.junctions[plan.start.of];
    if (!place) throw new RangeError(`no junction ${plan.start.of}`);
    const target = network.plane.toPoint(place);
    const { vertex, alongM } = firstWithin(course, target, plan.start.withinM);
    const headingDeg = headingAt(course, vertex);
    const speed = Math.min(course.cruiseSpeed[vertex] ?? 0, speedToMake(course, vertex, alongM));
    Object.assign(state, { vertex, alongM, headingDeg, speed });
  }
  return driverFrom(network, plan, state, random);
}

/**
 * Continues a drive. The plan may differ but must have the same stops. Halts and pauses between reports that are longer
 * than in this plan are shortened.
 */
export function resumeDriver(network: RoadNetwork, plan: DriverPlan, interrupted: DriverState): Driver {
  const random = createRandom(interrupted.random);
  const state: DriverState = { ...interrupted, ...(interrupted.cargo && { cargo: { ...interrupted.cargo } }) };
  if (plan.cargo !== undefined) state.cargo ??= newCargo(plan.cargo);
  if (plan.shift === undefined) {
    const [shortest, longest] = plan.dwellSeconds;
    if (state.haltedUntilMs > state.clockMs + longest * 1000)
      state.haltedUntilMs = state.clockMs + random.between(Math.min(shortest, 2), longest) * 1000;
  } else if (isAtHome(plan, state)) {
    // The shift may have changed.
    const dutyMs = dutyFrom(plan.shift, state.clockMs);
    if (state.haltedUntilMs > dutyMs)
      state.haltedUntilMs = dutyMs + random.between(0, plan.shift.staggerSeconds) * 1000;
  }
  state.reportDueMs = Math.min(state.reportDueMs, state.clockMs + plan.parkedReportSeconds * 1000);
  return driverFrom(network, plan, state, random);
}

/** Whether the vehicle is at the last of its stops. */
function isAtHome({ stops }: DriverPlan, { nextStop, alongM }: DriverState): boolean {
  return nextStop === 0 && alongM === 0 && stops.length > 0;
}

function driverFrom(network: RoadNetwork, plan: DriverPlan, state: DriverState, random: Random): Driver {
  const tickMs = Math.min(LONGEST_TICK_MS, plan.reportSeconds * 1000, plan.parkedReportSeconds * 1000);
  return {
    advanceTo(timeMs) {
      const positions: Position[] = [];
      for (;;) {
        const { clockMs, reportDueMs, haltedUntilMs, ignition } = state;
        if (reportDueMs <= clockMs) {
          if (reportDueMs > timeMs) return positions;
          positions.push(report(network, plan, state, random));
          const intervals = Math.ceil((haltedUntilMs - reportDueMs) / (plan.reportSeconds * 1000));
          const parkedSeconds = Math.min(plan.parkedReportSeconds, intervals * plan.reportSeconds);
          state.reportDueMs += Math.max(plan.reportSeconds, ignition ? 0 : parkedSeconds) * 1000;
          continue;
        }
        const stands = clockMs < haltedUntilMs;
        // A stationary vehicle needs no steps until its next report or departure.
        const ticks = stands ? Math.ceil((Math.min(haltedUntilMs, reportDueMs) - clockMs) / tickMs) : 1;
        const stepMs = ticks * tickMs;
        if (clockMs + stepMs > timeMs) return positions;
        pass(state, stepMs / 1000, random);
        if (plan.robbery !== undefined && !state.ignition) rob(plan, plan.robbery, state, stepMs);
        if (plan.tankChange !== undefined && !state.ignition) fill(plan, plan.tankChange, state, stepMs);
        if (plan.cargo && state.cargo) passCargo(plan.cargo, state.cargo, state.clockMs, stepMs / 1000);
        if (!stands) move(network, plan, state, random, stepMs / 1000);
      }
    },
    state: () => ({ ...state, ...(state.cargo && { cargo: { ...state.cargo } }), random: random.state }),
  };
}

function pass(state: DriverState, seconds: number, random: Random): void {
  state.clockMs += seconds * 1000;
  const kept = NOISE_KEPT_PER_SECOND ** seconds;
  const fresh = Math.sqrt(1 - kept * kept) * NOISE_M;
  state.noiseEastM = state.noiseEastM * kept + random.gauss() * fresh;
  state.noiseNorthM = state.noiseNorthM * kept + random.gauss() * fresh;
  if (state.ignition) state.fuelL = Math.max(0, state.fuelL - (IDLING_LITRES_PER_HOUR * seconds) / 3600);
}

/** Removes the fuel stolen in the last `stepMs`. */
function rob(plan: DriverPlan, robbery: Robbery, state: DriverState, stepMs: number): void {
  const { weekday, fromMinute, minutes, litres } = robbery;
  const day = new Date(state.clockMs);
  if (day.getDay() !== weekday) return;
  fill(plan, { fromMs: day.setHours(0, fromMinute, 0, 0), minutes, litres: -litres }, state, stepMs);
}

/**
 * Applies the fuel change of the last `stepMs`. Thieves leave a remainder, and a tank is never filled above its
 * capacity.
 */
function fill(
  { tankL }: DriverPlan,
  { fromMs, minutes, litres }: TankChange,
  state: DriverState,
  stepMs: number,
): void {
  const lengthMs = minutes * 60_000;
  const passedMs = Math.min(state.clockMs, fromMs + lengthMs) - Math.max(state.clockMs - stepMs, fromMs);
  if (passedMs <= 0) return;
  const next = state.fuelL + (passedMs / lengthMs) * litres;
  state.fuelL = litres < 0 ? Math.max(Math.min(state.fuelL, LEFT_BY_THIEVES_L), next) : Math.min(tankL, next);
}

function move(network: RoadNetwork, plan: DriverPlan, state: DriverState, random: Random, seconds: number): void {
  state.ignition = true;
  const { course } = state;
  const gain = ACCELERATION * (course.force ?? 1);
  const wanted = Math.min(course.cruiseSpeed[state.vertex] ?? 0, speedToMake(course, state.vertex, state.alongM));
  state.speed = wanted > state.speed ? Math.min(wanted, state.speed + gain * seconds) : wanted;
  // Steps do not end exactly on a vertex, so a minimum speed bridges the last metre.
  const drivenM = Math.max(state.speed, 0.6) * seconds;
  state.alongM += drivenM;
  state.odometerM += drivenM;
  state.fuelL = Math.max(0, state.fuelL - (drivenM / 100_000) * plan.litresPer100Km);
  while (state.vertex + 1 < course.alongM.length && state.alongM >= (course.alongM[state.vertex + 1] as number)) {
    state.vertex++;
    const wait = course.waitSeconds[state.vertex] ?? 0;
    if (wait === 0) continue;
    state.haltedUntilMs = state.clockMs + wait * 1000;
    state.alongM = course.alongM[state.vertex] as number;
    state.speed = 0;
    break;
  }
  if (state.vertex + 1 < course.alongM.length) state.headingDeg = headingAt(course, state.vertex);
  else arrive(network, plan, state, random);
}

function arrive(network: RoadNetwork, plan: DriverPlan, state: DriverState, random: Random): void {
  const here = plan.stops[state.nextStop] as number;
  state.nextStop = (state.nextStop + 1) % plan.stops.length;
  state.course = planCourse(network, plan, here, plan.stops[state.nextStop] as number, random);
  state.vertex = 0;
  state.alongM = 0;
  state.speed = 0;
  const dwellSeconds = random.between(plan.dwellSeconds[0], plan.dwellSeconds[1]);
  state.haltedUntilMs = state.clockMs + dwellSeconds * 1000;
  // During short deliveries the engine keeps running.
  state.ignition = dwellSeconds < 45;
  if (state.cargo) unload(state.cargo, state.nextStop, state.clockMs, state.haltedUntilMs);
  if (state.fuelL < plan.tankL * 0.2) state.fuelL = plan.tankL * 0.95;
  if (plan.shift === undefined || !isAtHome(plan, state)) return;
  const dutyMs = dutyFrom(plan.shift, state.clockMs);
  if (dutyMs <= state.haltedUntilMs) return;
  state.haltedUntilMs = dutyMs + random.between(0, plan.shift.staggerSeconds) * 1000;
  state.ignition = false;
}

function report(network: RoadNetwork, plan: DriverPlan, state: DriverState, random: Random): Position {
  const { speed, headingDeg, ignition } = state;
  const [eastM, northM] = pointAt(state.course, state.vertex, state.alongM);
  const [longitude, latitude] = network.plane.toLngLat([eastM + state.noiseEastM, northM + state.noiseNorthM]);
  const position = blankPosition(state.reportDueMs, round(latitude, 1e7), round(longitude, 1e7));
  position.speedKmh = speed === 0 ? 0 : Math.max(0, round(speed * 3.6 + random.gauss() * 0.3, 10));
  position.courseDeg = (Math.round(headingDeg + (speed > 0 ? random.gauss() * 1.5 : 0)) + 360) % 360;
  // The terrain is not quite flat.
  position.altitudeM = Math.round(86 + 4 * Math.sin(eastM / 2300) + 3 * Math.cos(northM / 1700) + random.gauss());
  position.satellites = Math.round(Math.min(17, Math.max(6, 12 + random.gauss() * 1.6)));
  position.ignition = ignition;
  position.odometerM = Math.round(state.odometerM);
  position.supplyV = round((ignition ? 13.9 : 12.5) + random.gauss() * 0.06, 1000);
  const levelL = round(Math.min(plan.tankL, state.fuelL + random.gauss() * 0.15), 10);
  if (plan.levelSensor) position.attributes = levelAttributes(plan.levelSensor, levelL, plan.tankL);
  else position.fuelL = levelL;
  if (plan.sendsEngineSpeed) {
    const rpm = ignition ? engineSpeedRpm(speed * 3.6, state.course.force !== undefined) : 0;
    position.attributes = { ...position.attributes, rpm };
  }
  if (state.cargo) position.attributes = { ...position.attributes, ...cargoAttributes(state.cargo, state.reportDueMs) };
  return position;
}

function planCourse(
  network: RoadNetwork,
  plan: DriverPlan,
  from: number,
  to: number,
  random: Random,
  force = forceOf(plan, random),
): Course {
  const roads = findRoute(network, from, to);
  if (!roads || roads.length === 0) throw new RangeError(`no way from junction ${from} to junction ${to}`);
  const points: PointM[] = [];
  const cruiseSpeed: number[] = [];
  const waitSeconds: number[] = [];
  for (const road of roads) {
    const cruise = Math.min(plan.topSpeedKmh, road.limitKmh * mood(plan.haste, random)) / 3.6;
    road.path.forEach((place, index) => {
      if (index === 0 && points.length > 0) return;
      if (index > 0) cruiseSpeed.push(cruise);
      points.push(network.plane.toPoint(place));
      waitSeconds.push(0);
    });
    if (road !== roads.at(-1) && hasLights(road) && random.next() < RED_LIGHT_CHANCE)
      waitSeconds[points.length - 1] = random.between(4, 25);
  }
  const alongM = [0];
  for (let i = 1; i < points.length; i++)
    alongM.push((alongM[i - 1] as number) + spanM(points[i - 1] as PointM, points[i] as PointM));

  // Backwards: the speed at a vertex must allow braking to the speed of the next.
  const vertexSpeed: number[] = new Array(points.length).fill(0);
  for (let i = points.length - 2; i >= 0; i--) {
    const stepM = (alongM[i + 1] as number) - (alongM[i] as number);
    const ahead = vertexSpeed[i + 1] as number;
    // A change of the limit applies at the vertex: the lower one counts.
    const road = Math.min(cruiseSpeed[i] as number, cruiseSpeed[i - 1] ?? Number.POSITIVE_INFINITY);
    const bend = i === 0 ? Number.POSITIVE_INFINITY : bendSpeed(points, i, SIDEWAYS * (force ?? 1));
    const here = (waitSeconds[i] as number) > 0 ? 0 : Math.min(road, bend);
    vertexSpeed[i] = Math.min(here, Math.sqrt(ahead * ahead + 2 * BRAKING * (force ?? 1) * stepM));
  }
  return { points, alongM, vertexSpeed, cruiseSpeed, waitSeconds, ...(force !== undefined && { force }) };
}

/** Factor of harsh driving on the next route; undefined where it is driven as usual. */
function forceOf({ rush }: DriverPlan, random: Random): number | undefined {
  return rush !== undefined && random.next() < rush.share ? rush.force : undefined;
}

/** Factor of the speed limit: mostly a little below 1, sometimes above. */
function mood(haste: number, random: Random): number {
  const hurry = random.next();
  return hurry < 0.35 ? 1 + haste * random.next() : 0.9 + 0.1 * random.next();
}

function hasLights(road: Road): boolean {
  return road.kind === 'street' || road.kind === 'avenue' || road.kind === 'boulevard';
}

/** Maximum speed in m/s in the bend at a vertex: angle and length of the turn determine its radius. */
function bendSpeed(points: readonly PointM[], index: number, sidewaysMps2: number): number {
  const before = points[index - 1] as PointM;
  const here = points[index] as PointM;
  const after = points[index + 1] as PointM;
  const turn = Math.abs(
    wrapDeg(bearingDeg(here, after) - bearingDeg(before, here)), // 180 is a turn on the spot
  );
  if (turn < 0.5) return Number.POSITIVE_INFINITY;
  const cutM = Math.min(spanM(before, here), spanM(here, after), turn > 20 ? CORNER_CUT_M * 2 : 60) / 2;
  const radiusM = cutM / Math.tan((Math.min(turn, 170) * Math.PI) / 360);
  return Math.max(1.5, Math.sqrt(sidewaysMps2 * radiusM));
}

/** Maximum speed in m/s for the longest tick that still allows braking to the speed of the next vertex. */
function speedToMake(course: Course, vertex: number, alongM: number): number {
  const ahead = course.vertexSpeed[vertex + 1];
  if (ahead === undefined) return 0;
  const leftM = Math.max(0, (course.alongM[vertex + 1] as number) - alongM);
  const braking = BRAKING * (course.force ?? 1);
  const perTick = braking * (LONGEST_TICK_MS / 1000);
  return Math.max(ahead, Math.sqrt(perTick * perTick + ahead * ahead + 2 * braking * leftM) - perTick);
}

/** First point of the course within `withinM` of `target`; the nearest vertex where no point is. */
function firstWithin(course: Course, target: PointM, withinM: number): { vertex: number; alongM: number } {
  let nearest = 0;
  let nearestM = Number.POSITIVE_INFINITY;
  for (let vertex = 0; vertex + 1 < course.points.length; vertex++) {
    const from = course.alongM[vertex] as number;
    const to = course.alongM[vertex + 1] as number;
    for (let alongM = from; alongM < to; alongM += 10)
      if (spanM(pointAt(course, vertex, alongM), target) <= withinM) return { vertex, alongM };
    const distanceM = spanM(course.points[vertex] as PointM, target);
    if (distanceM < nearestM) {
      nearest = vertex;
      nearestM = distanceM;
    }
  }
  return { vertex: nearest, alongM: course.alongM[nearest] as number };
}

function pointAt(course: Course, vertex: number, alongM: number): PointM {
  const from = course.points[vertex] as PointM;
  const to = course.points[vertex + 1];
  if (!to) return from;
  const startM = course.alongM[vertex] as number;
  const share = (alongM - startM) / ((course.alongM[vertex + 1] as number) - startM);
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

function headingAt(course: Course, vertex: number): number {
  return bearingDeg(course.points[vertex] as PointM, course.points[vertex + 1] as PointM);
}

function bearingDeg(from: PointM, to: PointM): number {
  return ((Math.atan2(to[0] - from[0], to[1] - from[1]) * 180) / Math.PI + 360) % 360;
}

/** Normalizes degrees to -180 to 180. */
function wrapDeg(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

function round(value: number, perUnit: number): number {
  return Math.round(value * perUnit) / perUnit;
}
