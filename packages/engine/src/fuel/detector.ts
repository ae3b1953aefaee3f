import type { FuelState, Level, Minute, OpenChange } from './fuel-state.ts';
import { levelOf, median } from './level.ts';
import { fitRamp, type Ramp } from './ramp.ts';
import { type Tank, UL_PER_L } from './tank.ts';

/** The data of a record that concerns the tank. Records are processed in order of time. */
export interface FuelRecord {
  atMs: number;
  /** Litres in the tank; null where the sensor sent nothing. */
  levelL: number | null;
  /** Null where unknown. */
  ignition: boolean | null;
  speedKmh: number | null;
  /** Metres since the previous record. */
  distanceM: number;
  latitude: number;
  longitude: number;
}

/** Reports that a change of the fuel level begins or has ended. */
export interface FuelFinding {
  kind: OpenChange['kind'];
  startedAtMs: number;
  /** Null: the change begins, and `volumeL` is the volume up to now. */
  endedAtMs: number | null;
  volumeL: number;
  levelBeforeL: number;
  levelAfterL: number;
  isMoving: boolean;
  before: Level;
  after: Level;
}

const MINUTE_MS = 60_000;
/** Most levels evaluated per minute. */
const MAX_LEVELS = 60;
/** Most minutes kept. */
export const MAX_MINUTES = 45;
/** Longest time over which a change is detected. One level is kept of each half hour. */
export const MEMORY_MS = 12 * 60 * MINUTE_MS;
const BUCKET_MS = 30 * MINUTE_MS;
const LONGEST_TICK_MS = 30 * MINUTE_MS;

/** Levels are rounded to this, so that two sources of one value agree. */
const STEP_UL = UL_PER_L / 10;
/** A level above this share of the capacity is a sensor error. */
const FULL = 1.1;
export const STANDS_KMH = 2;
const STANDS_M = 20;
/** Time for the fuel to settle, and for a sensor to start up. */
const SETTLES_MS = MINUTE_MS;
const SENSOR_STARTS_MS = MINUTE_MS;
/** A gap in the data of this length may hide a stop. */
const HIDES_STOP_MS = 5 * MINUTE_MS;

/** How long a change must hold before it counts: while the vehicle stands, and where it moved before or after. */
const HOLDS_STILL_MS = 3 * MINUTE_MS;
const HOLDS_MOVING_MS = 10 * MINUTE_MS;
/** A change is over after this long without further change, or after this share of its duration. */
const OVER_STILL_MS = 5 * MINUTE_MS;
const OVER_MOVING_MS = 15 * MINUTE_MS;
const OVER_MAX_MS = 150 * MINUTE_MS;
const OVER_SHARE = 0.35;

/**
 * Shares of the capacity: effect of different slopes and of some hours of warmth on the level, and the noise below
 * which a change does not continue.
 */
const SLOPE = 0.01;
const WARMTH = 0.005;
const WARMS_MS = 240 * MINUTE_MS;
const STILL_NOISE = 0.0025;
const MOVING_NOISE = 0.0075;
/** A minute that differs by more than this share of the capacity from its neighbours is wrong. */
const OUTLYING = 0.025;
/** A change must exceed this many standard deviations. */
const SURE = 2.5;
/** Weight of a minute in which the vehicle stood, relative to one in which it moved. */
const STILL_WEIGHT = 9;
/** A change is slow if the last minutes show less than this share of it. */
const SLOW_SHARE = 0.5;
/** A slow change begins with the last level that is within this share of the change from the first level. */
const SLOW_BEGIN = 0.1;
/** Minutes required before a change to determine its begin. */
const LEAST_BEFORE = 3;
const LEAST_AROUND = 12;

/** Heights are in quarters of a microlitre, so that they are integers for each tolerance. */
const QUARTERS = 4;
type Height = (level: Minute) => number;

/** Processes one record. Resulting findings are appended to `findings`. */
export function takeFuel(state: FuelState, tank: Tank, record: FuelRecord, findings: FuelFinding[]): void {
  const { atMs, levelL, ignition, speedKmh, distanceM } = record;
  const minute = Math.floor(atMs / MINUTE_MS);
  if (minute !== state.minute) {
    if (state.levels.length > 0) closeMinute(state, tank, findings);
    state.minute = minute;
    state.levels = [];
    state.isStill = true;
  }
  const stands = speedKmh === null ? distanceM < STANDS_M : speedKmh <= STANDS_KMH;
  if (state.atMs !== 0) {
    const elapsedMs = atMs - state.atMs;
    state.clockMs += Math.min(elapsedMs, LONGEST_TICK_MS);
    state.burntUl += burntUl(state, tank, record, stands);
    if (elapsedMs > HIDES_STOP_MS) state.stoodMs = atMs;
  }
  if (stands) state.stillSinceMs ??= atMs;
  else state.stillSinceMs = null;
  if (state.stillSinceMs === null || atMs - state.stillSinceMs < SETTLES_MS) state.isStill = false;
  else state.stoodMs = atMs;
  if (ignition === true && state.ignition === false) state.unsureUntilMs = atMs + SENSOR_STARTS_MS;
  state.ignition = ignition ?? state.ignition;
  state.atMs = atMs;

  if (levelL === null || atMs < state.unsureUntilMs || state.levels.length >= MAX_LEVELS) return;
  const levelUl = Math.round((levelL * UL_PER_L) / STEP_UL) * STEP_UL;
  // A sensor without power shows 0; a tank in use is never quite empty.
  if (!(levelUl > 0 && levelUl <= tank.capacityUl * FULL)) return;
  state.levels.push(levelUl);
  state.levelAtMs = atMs;
  state.levelBurntUl = state.burntUl;
  state.levelClockMs = state.clockMs;
  state.latitude = record.latitude;
  state.longitude = record.longitude;
}

/** Expected consumption of the engine since the previous record. */
function burntUl(state: FuelState, tank: Tank, record: FuelRecord, stands: boolean): number {
  const runs = (record.ignition ?? !stands) && (state.ignition ?? true);
  const perMs = !runs ? 0 : stands ? tank.idlingUlPerMs : tank.movingUlPerMs;
  // The fixes of a standing vehicle wander.
  const distanceM = stands && state.stillSinceMs !== null ? 0 : record.distanceM;
  return Math.round(distanceM * tank.ulPerM + (record.atMs - state.atMs) * perMs);
}

function closeMinute(state: FuelState, tank: Tank, findings: FuelFinding[]): void {
  const { minutes, levels, levelAtMs, levelBurntUl, isStill } = state;
  minutes.push({ atMs: levelAtMs, levelUl: median(levels), burntUl: levelBurntUl, isStill });
  if (minutes.length > MAX_MINUTES) minutes.shift();
  const level = levelOf(state);
  if (level === null) return;
  state.level = level;
  if (state.change === null) watch(state, tank, level, findings);
  else follow(state, state.change, tank, level, findings);
}

/** Level plus the highest possible consumption: it falls only where fuel is drained. */
function drainHeight({ tolerance }: Tank): Height {
  const share = QUARTERS + tolerance;
  return ({ levelUl, burntUl }) => QUARTERS * levelUl + share * burntUl;
}

/** Negated level plus the lowest possible consumption: it falls only where fuel is added. */
function refuelHeight({ tolerance }: Tank): Height {
  const share = Math.max(0, QUARTERS - tolerance);
  return ({ levelUl, burntUl }) => -QUARTERS * levelUl - share * burntUl;
}

function heightOf(kind: OpenChange['kind'], tank: Tank): Height {
  return kind === 'refuelling' ? refuelHeight(tank) : drainHeight(tank);
}

/** Detects the begin of a change. */
function watch(state: FuelState, tank: Tank, level: Level, findings: FuelFinding[]): void {
  remember(state, tank, level);
  const lowest = state.lows[0] as Level;
  // A tank can't be filled while driving.
  const mayBeFilled = state.stoodMs >= lowest.atMs;
  const kind =
    mayBeFilled && fallOf(state.lows, level, refuelHeight(tank)) >= QUARTERS * tank.minRefuelUl
      ? 'refuelling'
      : fallOf(state.highs, level, drainHeight(tank)) >= QUARTERS * tank.minDrainUl
        ? 'fuel-drain'
        : null;
  if (kind === null) {
    state.suspected = null;
    return;
  }
  if (state.suspected?.kind !== kind) state.suspected = { kind, sinceMs: level.atMs };
  const candidates = kind === 'refuelling' ? state.lows : state.highs;
  const start = candidates[0] as Level;
  const holdsMs = level.isStill && start.isStill ? HOLDS_STILL_MS : HOLDS_MOVING_MS;
  if (level.atMs - state.suspected.sinceMs < holdsMs) return;

  const before = beginOf(state, tank, kind, candidates, level);
  const change: OpenChange = {
    kind,
    startedAtMs: before.atMs,
    before,
    isMoving: !before.isStill && !level.isStill,
    farthest: level,
    still: level.isStill ? level : null,
  };
  state.suspected = null;
  // The highest of many noisy levels is above the true level.
  const leastUl = (kind === 'refuelling' ? tank.minRefuelUl : tank.minDrainUl) + marginUl(state, tank, before, level);
  const doubtUl = SURE * Math.hypot(before.noiseUl, level.noiseUl);
  if (volumeUl(change, level) < Math.max(leastUl, doubtUl)) return;
  state.change = change;
  state.highs = [];
  state.lows = [];
  findings.push(findingOf(change, level, null));
}

function fallOf(candidates: readonly Level[], level: Level, height: Height): number {
  return height(candidates[0] as Level) - height(level);
}

/**
 * Added to the minimum volume of a change: where the vehicle drove meanwhile, the ground slopes differently, and over
 * hours the fuel gets warmer or colder.
 */
function marginUl({ stillSinceMs }: FuelState, { capacityUl }: Tank, before: Level, after: Level): number {
  const isSamePlace = stillSinceMs !== null && stillSinceMs <= before.atMs;
  const warmed = Math.min(1, (after.atMs - before.atMs) / WARMS_MS);
  return capacityUl * ((isSamePlace ? 0 : SLOPE) + WARMTH * warmed);
}

/**
 * Fits a change to the minutes; null where they are too few.
 *
 * @param isSamePlace uses only the minutes since the vehicle stands: elsewhere the ground slopes differently
 */
function rampOf(
  { minutes, changedAtMs, burntUl }: FuelState,
  { capacityUl }: Tank,
  isSamePlace: boolean,
): (Ramp & { minutes: readonly Minute[] }) | null {
  let first = minutes.length;
  while (first > 0) {
    const minute = minutes[first - 1] as Minute;
    if (minute.atMs <= changedAtMs || (isSamePlace && !minute.isStill)) break;
    first--;
  }
  const used = minutes.slice(first);
  const values = used.map((minute) => minute.levelUl + minute.burntUl - burntUl);
  const sound = values.map((value, nth) => {
    const middle = median(values.slice(Math.max(0, nth - 1), nth + 2));
    const isInner = nth > 0 && nth < values.length - 1;
    return isInner && Math.abs(value - middle) > capacityUl * OUTLYING ? middle : value;
  });
  const weights = used.map(({ isStill }) => (isStill ? STILL_WEIGHT : 1));
  const ramp = fitRamp(sound, weights);
  return ramp && { ...ramp, minutes: used };
}

/** The level before a change, at the time of the last minute that still had it. */
function beginOf(
  state: FuelState,
  tank: Tank,
  kind: OpenChange['kind'],
  candidates: readonly Level[],
  level: Level,
): Level {
  const height = heightOf(kind, tank);
  const first = candidates[0] as Level;
  const fall = height(first) - height(level);
  const closeTo = height(first) - Math.round(fall * SLOW_BEGIN);
  const near = candidates.findLast((each) => height(each) >= closeTo) ?? first;
  const ramp = rampOf(state, tank, state.stillSinceMs !== null && state.stillSinceMs <= first.atMs);
  if (ramp === null || ramp.from + 1 < LEAST_BEFORE) return near;
  // The last minutes show little of a change that takes hours.
  if (Math.abs(ramp.before - ramp.after) * QUARTERS < fall * SLOW_SHARE) return near;
  const minute = ramp.minutes[ramp.from] as Minute;
  const levelUl = Math.round(ramp.before) + state.burntUl - minute.burntUl;
  return { ...near, ...minute, levelUl, noiseUl: minute.isStill ? 0 : near.noiseUl };
}

/** Detects the end of a change: no further change for a while. */
function follow(state: FuelState, change: OpenChange, tank: Tank, level: Level, findings: FuelFinding[]): void {
  const { kind, farthest } = change;
  const height = heightOf(kind, tank);
  const noiseUl = Math.max(tank.capacityUl * (level.isStill ? STILL_NOISE : MOVING_NOISE), level.noiseUl);
  const mayGoOn = kind === 'fuel-drain' || level.atMs - state.stoodMs < OVER_MOVING_MS;
  if (mayGoOn && height(farthest) - height(level) > QUARTERS * noiseUl) {
    change.farthest = level;
    change.still = null;
  }
  if (level.isStill) change.still = level;
  const backUl = kind === 'refuelling' ? tank.minDrainUl : tank.minRefuelUl;
  const isTurned = height(level) - height(change.farthest) >= QUARTERS * backUl;
  const lastedMs = change.farthest.atMs - change.startedAtMs;
  const waitsMs = Math.max(level.isStill ? OVER_STILL_MS : OVER_MOVING_MS, lastedMs * OVER_SHARE);
  if (!isTurned && level.atMs - change.farthest.atMs < Math.min(OVER_MAX_MS, waitsMs)) return;

  let after = isTurned ? change.farthest : (change.still ?? level);
  if (!change.before.isStill || !after.isStill) after = refine(state, tank, change, after);
  findings.push(findingOf(change, after, endOf(state, change, after, height)));
  state.changedAtMs = change.farthest.atMs;
  state.change = null;
  if (isTurned) remember(state, tank, change.farthest);
  remember(state, tank, level);
}

/**
 * Refines levels measured while moving, once all minutes around the change are known. Corrects the level before, and
 * returns the one after.
 */
function refine(state: FuelState, tank: Tank, change: OpenChange, after: Level): Level {
  const ramp = rampOf(state, tank, false);
  if (ramp === null || ramp.minutes.length < LEAST_AROUND) return after;
  if ((ramp.minutes[0] as Minute).atMs > change.startedAtMs - 5 * MINUTE_MS) return after;
  const { before } = change;
  change.before = { ...before, levelUl: Math.round(ramp.before) + state.burntUl - before.burntUl };
  return { ...after, levelUl: Math.round(ramp.after) + state.burntUl - after.burntUl };
}

/** Time of the first minute that had the level after a change. */
function endOf({ minutes }: FuelState, change: OpenChange, after: Level, height: Height): number {
  const { before, startedAtMs, farthest } = change;
  const closeTo = height(after) + Math.round(Math.abs(height(after) - height(before)) / 20);
  const first = minutes.find((minute) => minute.atMs > startedAtMs && height(minute) <= closeTo);
  return Math.min(first?.atMs ?? farthest.atMs, farthest.atMs);
}

/** Volume added or removed, apart from the expected consumption of the engine. */
function volumeUl({ kind, before }: OpenChange, after: Level): number {
  const changed = after.levelUl + after.burntUl - before.levelUl - before.burntUl;
  return kind === 'refuelling' ? changed : -changed;
}

export function findingOf(change: OpenChange, after: Level, endedAtMs: number | null): FuelFinding {
  const { kind, startedAtMs, before, isMoving } = change;
  return {
    kind,
    startedAtMs,
    endedAtMs,
    volumeL: Math.max(0, volumeUl(change, after)) / UL_PER_L,
    levelBeforeL: before.levelUl / UL_PER_L,
    levelAfterL: after.levelUl / UL_PER_L,
    isMoving,
    before,
    after,
  };
}

function remember(state: FuelState, tank: Tank, level: Level): void {
  keepHighest(state.highs, level, drainHeight(tank));
  keepHighest(state.lows, level, refuelHeight(tank));
}

/** Keeps the highest level of each half hour, until a later level is as high. */
function keepHighest(levels: Level[], level: Level, height: Height): void {
  while (levels.length > 0 && level.clockMs - (levels[0] as Level).clockMs > MEMORY_MS) levels.shift();
  while (levels.length > 0 && height(levels.at(-1) as Level) <= height(level)) levels.pop();
  const last = levels.at(-1);
  if (last === undefined || Math.floor(last.atMs / BUCKET_MS) !== Math.floor(level.atMs / BUCKET_MS))
    levels.push(level);
}
