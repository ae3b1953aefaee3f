import { blankPosition, type Position } from '@outrider/domain';
import { type PointM, spanM } from './plane.ts';
import { createRandom, type Random } from './random.ts';
import { findRoute, type Road, type RoadNetwork } from './roads.ts';

/** Where a driver goes, and how. */
export interface DriverPlan {
  /** Junctions that are driven to in turn, for ever. At least two, and none twice in a row. */
  stops: readonly number[];
  /** How long the vehicle stands at a stop, in seconds. */
  dwellSeconds: readonly [from: number, to: number];
  /**
   * `stop`: stands at the last of the stops and leaves it after that many seconds. `road`: is under way from the last
   * of the stops to the first, at the first point of that way that is within `withinM` of the junction `of`.
   */
  start: { at: 'stop'; leavesAfterSeconds: number } | { at: 'road'; of: number; withinM: number };
  /** On roads taken in a hurry the limit is overstepped by up to this share of it; 0 keeps to all limits. */
  haste: number;
  /** What the vehicle can do. */
  topSpeedKmh: number;
  /** Between reports while the ignition is on. */
  reportSeconds: number;
  /** Between reports while it is off. */
  parkedReportSeconds: number;
  odometerM: number;
  fuelL: number;
  tankL: number;
  litresPer100Km: number;
}

/** A vehicle being driven. */
export interface Driver {
  /** Drives on until `timeMs` and gives what the terminal recorded on the way; nothing when the time is not later. */
  advanceTo(timeMs: number): Position[];
}

/** A step of the drive, where its terminal does not record more often. */
const LONGEST_TICK_MS = 500;
const ACCELERATION = 1.6; // m/s², a loaded van
const BRAKING = 2.2; // m/s²
const SIDEWAYS = 2.4; // m/s², what cargo and passengers bear in a bend
/** A corner at a junction is not sharper than one cut this long before and after it. */
const CORNER_CUT_M = 14;
const RED_LIGHT_CHANCE = 0.12;
const NOISE_M = 2.2;
/** Receivers err slowly: this share of the error stays from one second to the next. */
const NOISE_KEPT_PER_SECOND = 0.94;

/** A way as it is driven: vertex by vertex, with the speed that each vertex allows. */
interface Course {
  points: PointM[];
  /** Metres from the start, by vertex. */
  alongM: number[];
  /** m/s that a vertex may be passed with, so that all later ones can be too. */
  vertexSpeed: number[];
  /** m/s that is driven between a vertex and the next. */
  cruiseSpeed: number[];
  /** Seconds of waiting at a vertex (a red light). */
  waitSeconds: number[];
}

/**
 * Puts a driver on the road. The same network, plan, seed and times give the same drive.
 *
 * @param startMs Unix milliseconds at which the drive begins; also the time of the first report
 * @throws {RangeError} when the plan has no way between two of its stops
 */
export function createDriver(network: RoadNetwork, plan: DriverPlan, seed: number, startMs: number): Driver {
  const random = createRandom(seed);
  const tickMs = Math.min(LONGEST_TICK_MS, plan.reportSeconds * 1000, plan.parkedReportSeconds * 1000);
  const lastStop = plan.stops.at(-1);
  if (lastStop === undefined || plan.stops.length < 2)
    throw new RangeError('a driver needs two stops to drive between');

  let nextStop = 0;
  let course = planCourse(network, plan, lastStop, plan.stops[0] as number, random);
  let vertex = 0;
  let alongM = 0;
  let speed = 0; // m/s
  let clockMs = startMs;
  let haltedUntilMs = startMs;
  let ignition = true;
  let headingDeg = headingAt(course, 0);
  let odometerM = plan.odometerM;
  let fuelL = plan.fuelL;
  let reportDueMs = startMs;
  let noiseEastM = random.gauss() * NOISE_M;
  let noiseNorthM = random.gauss() * NOISE_M;

  if (plan.start.at === 'stop') {
    haltedUntilMs = startMs + plan.start.leavesAfterSeconds * 1000;
  } else {
    const place = network.junctions[plan.start.of];
    if (!place) throw new RangeError(`no junction ${plan.start.of}`);
    const target = network.plane.toPoint(place);
    const { withinM } = plan.start;
    const found = firstWithin(course, target, withinM);
    vertex = found.vertex;
    alongM = found.alongM;
    headingDeg = headingAt(course, vertex);
    speed = Math.min(course.cruiseSpeed[vertex] ?? 0, speedToMake(course, vertex, alongM));
  }

  const arrive = (): void => {
    const here = plan.stops[nextStop] as number;
    nextStop = (nextStop + 1) % plan.stops.length;
    course = planCourse(network, plan, here, plan.stops[nextStop] as number, random);
    vertex = 0;
    alongM = 0;
    speed = 0;
    const dwellSeconds = random.between(plan.dwellSeconds[0], plan.dwellSeconds[1]);
    haltedUntilMs = clockMs + dwellSeconds * 1000;
    // Who only hands something over lets the engine run.
    ignition = dwellSeconds < 45;
    if (fuelL < plan.tankL * 0.2) fuelL = plan.tankL * 0.95;
  };

  const tick = (): void => {
    clockMs += tickMs;
    const seconds = tickMs / 1000;
    const kept = NOISE_KEPT_PER_SECOND ** seconds;
    const fresh = Math.sqrt(1 - kept * kept) * NOISE_M;
    noiseEastM = noiseEastM * kept + random.gauss() * fresh;
    noiseNorthM = noiseNorthM * kept + random.gauss() * fresh;
    if (clockMs < haltedUntilMs) {
      if (ignition) fuelL = Math.max(0, fuelL - (0.9 * seconds) / 3600);
      return;
    }
    ignition = true;
    const wanted = Math.min(course.cruiseSpeed[vertex] ?? 0, speedToMake(course, vertex, alongM));
    speed = wanted > speed ? Math.min(wanted, speed + ACCELERATION * seconds) : wanted;
    // Braking ends exactly on a vertex only on paper: the last metre is rolled.
    const drivenM = Math.max(speed, 0.6) * seconds;
    alongM += drivenM;
    odometerM += drivenM;
    fuelL = Math.max(0, fuelL - (drivenM / 100_000) * plan.litresPer100Km);
    while (vertex + 1 < course.alongM.length && alongM >= (course.alongM[vertex + 1] as number)) {
      vertex++;
      const wait = course.waitSeconds[vertex] ?? 0;
      if (wait === 0) continue;
      haltedUntilMs = clockMs + wait * 1000;
      alongM = course.alongM[vertex] as number;
      speed = 0;
      break;
    }
    if (vertex + 1 < course.alongM.length) headingDeg = headingAt(course, vertex);
    else arrive();
  };

  const report = (): Position => {
    const [eastM, northM] = pointAt(course, vertex, alongM);
    const [longitude, latitude] = network.plane.toLngLat([eastM + noiseEastM, northM + noiseNorthM]);
    const position = blankPosition(reportDueMs, round(latitude, 1e7), round(longitude, 1e7));
    position.speedKmh = speed === 0 ? 0 : Math.max(0, round(speed * 3.6 + random.gauss() * 0.3, 10));
    position.courseDeg = (Math.round(headingDeg + (speed > 0 ? random.gauss() * 1.5 : 0)) + 360) % 360;
    // The plain is not quite flat.
    position.altitudeM = Math.round(86 + 4 * Math.sin(eastM / 2300) + 3 * Math.cos(northM / 1700) + random.gauss());
    position.satellites = Math.round(Math.min(17, Math.max(6, 12 + random.gauss() * 1.6)));
    position.ignition = ignition;
    position.odometerM = Math.round(odometerM);
    position.supplyV = round((ignition ? 13.9 : 12.5) + random.gauss() * 0.06, 1000);
    position.fuelL = round(Math.min(plan.tankL, fuelL + random.gauss() * 0.15), 10);
    return position;
  };

  return {
    advanceTo(timeMs) {
      const positions: Position[] = [];
      for (;;) {
        if (reportDueMs <= clockMs) {
          if (reportDueMs > timeMs) return positions;
          positions.push(report());
          const parked = !ignition && reportDueMs + plan.parkedReportSeconds * 1000 < haltedUntilMs;
          reportDueMs += (parked ? plan.parkedReportSeconds : plan.reportSeconds) * 1000;
        } else if (clockMs + tickMs > timeMs) {
          return positions;
        } else {
          tick();
        }
      }
    },
  };
}

function planCourse(network: RoadNetwork, plan: DriverPlan, from: number, to: number, random: Random): Course {
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

  // Backwards: no vertex may be passed faster than braking before the next allows.
  const vertexSpeed: number[] = new Array(points.length).fill(0);
  for (let i = points.length - 2; i >= 0; i--) {
    const stepM = (alongM[i + 1] as number) - (alongM[i] as number);
    const ahead = vertexSpeed[i + 1] as number;
    // A slower road is entered at its own speed.
    const road = Math.min(cruiseSpeed[i] as number, cruiseSpeed[i - 1] ?? Number.POSITIVE_INFINITY);
    const bend = i === 0 ? Number.POSITIVE_INFINITY : bendSpeed(points, i);
    const here = (waitSeconds[i] as number) > 0 ? 0 : Math.min(road, bend);
    vertexSpeed[i] = Math.min(here, Math.sqrt(ahead * ahead + 2 * BRAKING * stepM));
  }
  return { points, alongM, vertexSpeed, cruiseSpeed, waitSeconds };
}

/** Most roads are driven a little under the limit, some over it. */
function mood(haste: number, random: Random): number {
  const hurry = random.next();
  return hurry < 0.35 ? 1 + haste * random.next() : 0.9 + 0.1 * random.next();
}

function hasLights(road: Road): boolean {
  return road.kind === 'street' || road.kind === 'avenue' || road.kind === 'boulevard';
}

/** m/s that the bend at a vertex allows: what it turns by, over how far, bounds the radius. */
function bendSpeed(points: readonly PointM[], index: number): number {
  const before = points[index - 1] as PointM;
  const here = points[index] as PointM;
  const after = points[index + 1] as PointM;
  const turn = Math.abs(
    wrapDeg(bearingDeg(here, after) - bearingDeg(before, here)), // 180 is a turn on the spot
  );
  if (turn < 0.5) return Number.POSITIVE_INFINITY;
  const cutM = Math.min(spanM(before, here), spanM(here, after), turn > 20 ? CORNER_CUT_M * 2 : 60) / 2;
  const radiusM = cutM / Math.tan((Math.min(turn, 170) * Math.PI) / 360);
  return Math.max(1.5, Math.sqrt(SIDEWAYS * radiusM));
}

/** m/s that can be driven for the longest tick so that braking after it still makes the next vertex. */
function speedToMake(course: Course, vertex: number, alongM: number): number {
  const ahead = course.vertexSpeed[vertex + 1];
  if (ahead === undefined) return 0;
  const leftM = Math.max(0, (course.alongM[vertex + 1] as number) - alongM);
  const perTick = BRAKING * (LONGEST_TICK_MS / 1000);
  return Math.max(ahead, Math.sqrt(perTick * perTick + ahead * ahead + 2 * BRAKING * leftM) - perTick);
}

/** Where along the course it first comes within `withinM` of `target`; its nearest vertex where it never does. */
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

/** Into -180 to 180. */
function wrapDeg(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

function round(value: number, perUnit: number): number {
  return Math.round(value * perUnit) / perUnit;
}
