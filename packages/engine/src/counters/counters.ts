import { type AttributeValue, type CounterSums, isTimely, type Position, type Rejection } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import { impliesJump, isTooFar, outweighAnchor, suspectsAfter } from '../intake/jump.ts';
import { countDistance, type Disagreement, noDisagreement } from '../odometer.ts';
import type { Suspects } from '../vehicle-state.ts';
import { type CountedBy, CustomCounting, type CustomCounts, customFirstsOf, customSumsOf } from './custom.ts';

/** An archived record; its attributes may be limited to those that the vehicle's counters use. */
export interface CounterRecord extends Position {
  receivedAtMs: number;
  rejection: Rejection | null;
  terminalId: string;
}

/** The latest reading of one of the terminal's counters. */
interface Reading {
  /** Metres or milliseconds. */
  value: number;
  atMs: number;
  terminalId: string;
}

/** Counter totals of a vehicle up to one of its records. Plain data: stored as JSON and restored bit for bit. */
export interface CounterState {
  /** Unix milliseconds of the newest counted record; 0 before the first. */
  throughMs: number;
  /** The last fix that moved the vehicle. */
  fix: Pick<Position, 'fixTimeMs' | 'latitude' | 'longitude' | 'speedKmh'> | null;
  suspects: Suspects | null;
  ignition: boolean | null;
  /** Sums up to the terminal's latest readings. */
  odometerM: number;
  engineMs: number;
  /** Own sums since those readings. The next reading replaces them if it continues the one before. */
  ownM: number;
  ownMs: number;
  odometer: Reading | null;
  engine: Reading | null;
  /** Highest totals up to now: a reading below the own sums does not lower the counters. */
  topM: number;
  topMs: number;
  /** What the terminal's counter showed beyond the sums at its first reading: the vehicle was driven before. */
  firstM: number;
  firstMs: number;
  /** Undefined in states stored before custom counters existed. */
  custom?: CustomCounts;
  /** Disagreement of the odometer's readings with the own sums; undefined in states of earlier versions. */
  disagreement?: Disagreement;
}

/** Over a longer gap it is unknown whether the engine ran. */
const MAX_GAP_MS = 3_600_000;
/** A step is a movement above this speed, or over this distance: less is the jitter of a receiver. */
const MOVING_KMH = 2;
const MOVING_M = 50;
/** The terminal's first reading is taken as the vehicle's own if no more than this was counted before. */
const FIRST_READING_WITHIN_M = 1000;
const FIRST_READING_WITHIN_MS = 3_600_000;
/** Terminals round engine hours: a reading may be ahead of the clock by this much. */
const HOURS_ROUNDED_BY_MS = 360_000;
const HOUR_MS = 3_600_000;

export function freshCounters(): CounterState {
  return {
    throughMs: 0,
    fix: null,
    suspects: null,
    ignition: null,
    odometerM: 0,
    engineMs: 0,
    ownM: 0,
    ownMs: 0,
    odometer: null,
    engine: null,
    topM: 0,
    topMs: 0,
    firstM: 0,
    firstMs: 0,
    custom: {},
  };
}

/** Initial values of a vehicle's counters, which are shown in addition to the counted sums without any correction. */
export function firstReadingsOf({ firstM, firstMs, custom = {} }: CounterState): CounterSums {
  return { odometerM: firstM, engineMs: firstMs, custom: customFirstsOf(custom) };
}

export function sumsOf({ topM, topMs, custom = {} }: CounterState): CounterSums {
  return { odometerM: topM, engineMs: topMs, custom: customSumsOf(custom) };
}

/** Result of counting over records. */
export interface CounterRun {
  /**
   * State to resume from, with all newer records. It leaves out records that may still be judged differently by further
   * records of the same time or after a jump.
   */
  settled: CounterState;
  /** Sums after all records. */
  sums: CounterSums;
  first: CounterSums;
  throughMs: number;
  /** Sums at each of the requested times before the newest record, by time. */
  marked: ReadonlyMap<number, CounterSums>;
  /** The state before the first record of each UTC day. */
  days: CounterState[];
}

/**
 * Continues counting over records that are newer than those of a state, in order of time.
 *
 * @param marks Unix milliseconds, ascending: times for which the sums are requested
 * @param counters custom counters of the vehicle
 * @param hasMore whether newer records exist, which makes the result of these final
 */
export function countOn(
  state: CounterState,
  records: readonly CounterRecord[],
  marks: readonly number[],
  counters: readonly CountedBy[] = [],
  hasMore = false,
): CounterRun {
  const { working, custom } = begin(state, counters);
  const marked = new Map<number, CounterSums>();
  const days: CounterState[] = [];
  const lastMs = records.at(-1)?.fixTimeMs ?? 0;
  let settled: CounterState | null = null;
  let nextMark = 0;
  for (const [nth, record] of records.entries()) {
    if (!isCounted(record) || record.fixTimeMs < working.throughMs) continue;
    const { fixTimeMs } = record;
    while (nextMark < marks.length && (marks[nextMark] as number) < fixTimeMs) {
      const mark = marks[nextMark++] as number;
      if (mark >= working.throughMs) marked.set(mark, sumsOf(working));
    }
    // Counting can be resumed between two different times while no jump is in doubt.
    if (working.suspects === null && fixTimeMs > working.throughMs) {
      const isLast = fixTimeMs === lastMs;
      settled = isLast || hasJump(working, records, nth) ? structuredClone(working) : null;
      if (working.throughMs > 0 && dayOf(fixTimeMs) > dayOf(working.throughMs))
        days.push(settled ?? structuredClone(working));
    }
    count(working, record, custom);
  }
  return {
    settled: (hasMore ? null : settled) ?? working,
    sums: sumsOf(working),
    first: firstReadingsOf(working),
    throughMs: working.throughMs,
    marked,
    days,
  };
}

/** The first record with which the sums meet the request. */
export interface Reached {
  fixTimeMs: number;
  /** The last fix that moved the vehicle; null before the first. */
  fix: CounterState['fix'];
}

/**
 * Continues counting until the sums meet the request.
 *
 * @returns the record with which they did, and the state to resume from with newer records
 */
export function countUntil(
  state: CounterState,
  records: readonly CounterRecord[],
  isReached: (sums: CounterSums, atMs: number) => boolean,
  counters: readonly CountedBy[] = [],
): { reached: Reached | null; state: CounterState } {
  const { working, custom } = begin(state, counters);
  for (const record of records) {
    if (!isCounted(record) || record.fixTimeMs < working.throughMs) continue;
    count(working, record, custom);
    if (isReached(sumsOf(working), record.fixTimeMs))
      return { reached: { fixTimeMs: record.fixTimeMs, fix: working.fix }, state: working };
  }
  return { reached: null, state: working };
}

/** Copies a state for counting, with its custom counters. */
function begin(state: CounterState, counters: readonly CountedBy[]): { working: CounterState; custom: CustomCounting } {
  const working = structuredClone(state);
  working.custom ??= {};
  return { working, custom: new CustomCounting(working.custom, counters) };
}

function dayOf(timeMs: number): number {
  return Math.floor(timeMs / 86_400_000);
}

/** Whether the time of a record is plausible. */
function isCounted(record: CounterRecord): boolean {
  return isPlaced(record) || isTimely(record, record.receivedAtMs);
}

function isPlaced({ valid, rejection }: CounterRecord): boolean {
  return valid && rejection === null;
}

/** Whether any of the records of one time is a jump. */
function hasJump(state: CounterState, records: readonly CounterRecord[], from: number): boolean {
  const atMs = records[from]?.fixTimeMs;
  for (let nth = from; records[nth]?.fixTimeMs === atMs; nth++)
    if (isJump(state, records[nth] as CounterRecord)) return true;
  return false;
}

function isJump({ fix }: CounterState, record: CounterRecord): boolean {
  if (fix === null || !isPlaced(record)) return false;
  const elapsedMs = record.fixTimeMs - fix.fixTimeMs;
  return elapsedMs > 0 && impliesJump(fix.latitude, fix.longitude, record.latitude, record.longitude, elapsedMs);
}

/** Counts one record. `custom` belongs to the same state. */
function count(state: CounterState, record: CounterRecord, custom: CustomCounting): void {
  countRecord(state, record);
  custom.take(record);
  state.topM = Math.max(state.topM, state.odometerM + state.ownM);
  state.topMs = Math.max(state.topMs, state.engineMs + state.ownMs);
}

function countRecord(state: CounterState, record: CounterRecord): void {
  const elapsedMs = state.throughMs === 0 ? 0 : record.fixTimeMs - state.throughMs;
  state.throughMs = record.fixTimeMs;
  if (state.ignition === true && elapsedMs <= MAX_GAP_MS) state.ownMs += elapsedMs;
  state.ignition = record.ignition ?? state.ignition;
  readEngineHours(state, record);
  if (!isPlaced(record)) return;
  if (isJump(state, record)) {
    state.suspects = suspectsAfter(state.suspects, record);
    if (!outweighAnchor(state.suspects) || state.suspects.lastAtMs !== record.fixTimeMs) return;
    // The vehicle did not travel from the wrong place to this one.
    state.fix = null;
  }
  state.suspects = null;
  state.ownM += wayM(state.fix, record);
  const { fixTimeMs, latitude, longitude, speedKmh } = record;
  if (state.fix === null || fixTimeMs > state.fix.fixTimeMs) state.fix = { fixTimeMs, latitude, longitude, speedKmh };
  readOdometer(state, record);
}

function wayM(from: CounterState['fix'], to: CounterRecord): number {
  if (from === null) return 0;
  const elapsedMs = to.fixTimeMs - from.fixTimeMs;
  if (elapsedMs <= 0) return 0;
  const metres = distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
  const implied = (metres * 3600) / elapsedMs;
  const moves = (from.speedKmh ?? implied) > MOVING_KMH || (to.speedKmh ?? implied) > MOVING_KMH;
  return moves || metres > MOVING_M ? metres : 0;
}

function readOdometer(state: CounterState, { odometerM, fixTimeMs, terminalId }: CounterRecord): void {
  if (odometerM === null) return;
  const before = state.odometer;
  const reading = { value: odometerM, atMs: fixTimeMs, terminalId };
  if (before === null) {
    state.odometerM += state.ownM;
    if (state.odometerM < FIRST_READING_WITHIN_M) state.firstM = odometerM - state.odometerM;
  } else {
    const grown = odometerM - before.value;
    const elapsedMs = fixTimeMs - before.atMs;
    // An odometer that is always 0 is ignored.
    if (elapsedMs <= 0 || (odometerM === 0 && before.value === 0)) return;
    // After a reset or from another terminal, a reading does not continue the one before.
    const continues = before.terminalId === terminalId && grown >= 0 && !isTooFar(grown, elapsedMs);
    state.disagreement ??= noDisagreement();
    state.odometerM += countDistance(state.disagreement, continues ? grown : null, state.ownM);
  }
  state.odometer = reading;
  state.ownM = 0;
}

function readEngineHours(state: CounterState, { attributes, fixTimeMs, terminalId }: CounterRecord): void {
  const hours: AttributeValue | undefined = attributes?.engineHours;
  if (typeof hours !== 'number' || !(hours >= 0) || hours > 1_000_000) return;
  const before = state.engine;
  const reading = { value: hours * HOUR_MS, atMs: fixTimeMs, terminalId };
  if (before === null) {
    state.engineMs += state.ownMs;
    if (state.engineMs < FIRST_READING_WITHIN_MS) state.firstMs = reading.value - state.engineMs;
  } else {
    const grown = reading.value - before.value;
    const elapsedMs = fixTimeMs - before.atMs;
    if (elapsedMs <= 0) return;
    const continues = before.terminalId === terminalId && grown >= 0 && grown <= elapsedMs + HOURS_ROUNDED_BY_MS;
    state.engineMs += continues ? grown : state.ownMs;
  }
  state.engine = reading;
  state.ownMs = 0;
}
