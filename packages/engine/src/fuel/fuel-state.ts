/** The records of one minute. All volumes are whole microlitres, so that sums are exact regardless of their start. */
export interface Minute {
  /** Time of its last record, Unix milliseconds. */
  atMs: number;
  /** Median of its levels. */
  levelUl: number;
  /** Expected total consumption of the engine up to then, since the detector began. */
  burntUl: number;
  /** True where the vehicle had stood long enough for the fuel to settle. */
  isStill: boolean;
}

/** A fuel level with slosh, tilt and wrong values filtered out. */
export interface Level extends Minute {
  /** Standard deviation, by the spread of its minutes; 0 while the vehicle stands. */
  noiseUl: number;
  /** See {@link FuelState.clockMs}. */
  clockMs: number;
  latitude: number;
  longitude: number;
}

/** A refuelling or drain in progress. */
export interface OpenChange {
  kind: 'refuelling' | 'fuel-drain';
  startedAtMs: number;
  before: Level;
  /** True where the vehicle was moving when the change began. */
  isMoving: boolean;
  /** The level farthest from the one before the change, up to now. */
  farthest: Level;
  /** The last level since then that was measured while the vehicle stood. */
  still: Level | null;
}

/** Fuel data at a moment; null where not measured. */
export interface FuelMark {
  levelL: number | null;
  /** Reading of the engine's consumption counter. */
  usedL: number | null;
  atMs: number;
  burntUl: number;
  /** Volume added since, less the volume drained. */
  addedL: number;
}

/**
 * State of the detector for one tank. It depends only on the records of the last hours, so that a recalculation, which
 * starts somewhere in the history, gets the same state. Bounded: see `MAX_MINUTES`, `MEMORY_MS`.
 */
export interface FuelState {
  /** Time of the last record, Unix milliseconds; 0 before the first. */
  atMs: number;
  /** Elapsed time covered by records: long gaps count as short ones. */
  clockMs: number;
  burntUl: number;
  ignition: boolean | null;
  stillSinceMs: number | null;
  /** When the vehicle last stood for a while, or may have stood. */
  stoodMs: number;
  /** Levels up to this time are ignored: the sensor was just switched on. */
  unsureUntilMs: number;

  // The current minute.

  /** Minutes since 1970. */
  minute: number;
  levels: number[];
  isStill: boolean;
  /** Time, burnt volume and place of its last level. */
  levelAtMs: number;
  levelBurntUl: number;
  levelClockMs: number;
  latitude: number;
  longitude: number;

  /** Minutes with a level. Oldest first. */
  minutes: Minute[];
  /** Possible begins of a drain, and of a refuelling: each higher (lower) than all later ones. Oldest first. */
  highs: Level[];
  lows: Level[];
  /** Since when a change has been large enough; it counts if it holds. */
  suspected: { kind: OpenChange['kind']; sinceMs: number } | null;
  change: OpenChange | null;
  /** When the last change ended. */
  changedAtMs: number;
  /** The latest level. */
  level: Level | null;

  /** The last reading of the engine's consumption counter, litres. */
  usedL: number | null;
  /** Fuel data at the begin of the current trip, and of the current stop. */
  trip: FuelMark | null;
  stop: FuelMark | null;
}

export function freshFuelState(): FuelState {
  return {
    atMs: 0,
    clockMs: 0,
    burntUl: 0,
    ignition: null,
    stillSinceMs: null,
    stoodMs: 0,
    unsureUntilMs: 0,
    minute: -1,
    levels: [],
    isStill: false,
    levelAtMs: 0,
    levelBurntUl: 0,
    levelClockMs: 0,
    latitude: 0,
    longitude: 0,
    minutes: [],
    highs: [],
    lows: [],
    suspected: null,
    change: null,
    changedAtMs: 0,
    level: null,
    usedL: null,
    trip: null,
    stop: null,
  };
}

/** Time of the oldest record that may still affect an event, Unix milliseconds; null: none. */
export function remembersSinceMs({ minutes, highs, lows, levelAtMs }: FuelState): number | null {
  const oldestMs = Math.min(
    minutes[0]?.atMs ?? Number.POSITIVE_INFINITY,
    highs[0]?.atMs ?? Number.POSITIVE_INFINITY,
    lows[0]?.atMs ?? Number.POSITIVE_INFINITY,
    levelAtMs || Number.POSITIVE_INFINITY,
  );
  return oldestMs === Number.POSITIVE_INFINITY ? null : oldestMs;
}

type EncodedMinute = [sinceMs: number, levelUl: number, burntUl: number, isStill: 0 | 1];
type EncodedLevel = [
  atMs: number,
  levelUl: number,
  burntUl: number,
  isStill: 0 | 1,
  noiseUl: number,
  clockMs: number,
  latitude: number,
  longitude: number,
];
export type EncodedFuel = [
  atMs: number,
  clockMs: number,
  burntUl: number,
  ignition: boolean | null,
  stillSinceMs: number | null,
  stoodMs: number,
  unsureUntilMs: number,
  minute: number,
  levels: number[],
  isStill: boolean,
  levelAtMs: number,
  levelBurntUl: number,
  levelClockMs: number,
  latitude: number,
  longitude: number,
  minutes: EncodedMinute[],
  highs: EncodedLevel[],
  lows: EncodedLevel[],
  suspected: [OpenChange['kind'], number] | null,
  change:
    | [OpenChange['kind'], startedAtMs: number, EncodedLevel, isMoving: boolean, EncodedLevel, EncodedLevel | null]
    | null,
  changedAtMs: number,
  level: EncodedLevel | null,
  usedL: number | null,
  trip: EncodedMark | null,
  stop: EncodedMark | null,
];
type EncodedMark = [levelL: number | null, usedL: number | null, atMs: number, burntUl: number, addedL: number];

/** As JSON without names, for the checkpoint. Numbers are restored bit for bit. */
export function encodeFuel(state: FuelState): EncodedFuel {
  const { suspected, change, level } = state;
  return [
    state.atMs,
    state.clockMs,
    state.burntUl,
    state.ignition,
    state.stillSinceMs,
    state.stoodMs,
    state.unsureUntilMs,
    state.minute,
    state.levels,
    state.isStill,
    state.levelAtMs,
    state.levelBurntUl,
    state.levelClockMs,
    state.latitude,
    state.longitude,
    // Small numbers need less space.
    state.minutes.map(({ atMs, levelUl, burntUl, isStill }) => [
      state.atMs - atMs,
      levelUl,
      state.burntUl - burntUl,
      isStill ? 1 : 0,
    ]),
    state.highs.map(encodeLevel),
    state.lows.map(encodeLevel),
    suspected && [suspected.kind, suspected.sinceMs],
    change && [
      change.kind,
      change.startedAtMs,
      encodeLevel(change.before),
      change.isMoving,
      encodeLevel(change.farthest),
      change.still && encodeLevel(change.still),
    ],
    state.changedAtMs,
    level && encodeLevel(level),
    state.usedL,
    encodeMark(state.trip),
    encodeMark(state.stop),
  ];
}

export function decodeFuel(encoded: EncodedFuel): FuelState {
  const [atMs, clockMs, burntUl, ignition, stillSinceMs, stoodMs, unsureUntilMs, ...rest] = encoded;
  const [minute, levels, isStill, levelAtMs, levelBurntUl, levelClockMs, latitude, longitude, ...lists] = rest;
  const [minutes, highs, lows, suspected, change, changedAtMs, level, usedL, trip, stop] = lists;
  return {
    atMs,
    clockMs,
    burntUl,
    ignition,
    stillSinceMs,
    stoodMs,
    unsureUntilMs,
    minute,
    levels,
    isStill,
    levelAtMs,
    levelBurntUl,
    levelClockMs,
    latitude,
    longitude,
    minutes: minutes.map(([sinceMs, levelUl, unburntUl, still]) => ({
      atMs: atMs - sinceMs,
      levelUl,
      burntUl: burntUl - unburntUl,
      isStill: still === 1,
    })),
    highs: highs.map(decodeLevel),
    lows: lows.map(decodeLevel),
    suspected: suspected && { kind: suspected[0], sinceMs: suspected[1] },
    change: change && {
      kind: change[0],
      startedAtMs: change[1],
      before: decodeLevel(change[2]),
      isMoving: change[3],
      farthest: decodeLevel(change[4]),
      still: change[5] && decodeLevel(change[5]),
    },
    changedAtMs,
    level: level && decodeLevel(level),
    usedL,
    trip: decodeMark(trip),
    stop: decodeMark(stop),
  };
}

function encodeLevel(level: Level): EncodedLevel {
  const { atMs, levelUl, burntUl, isStill, noiseUl, clockMs, latitude, longitude } = level;
  return [atMs, levelUl, burntUl, isStill ? 1 : 0, noiseUl, clockMs, latitude, longitude];
}

function decodeLevel([atMs, levelUl, burntUl, still, noiseUl, clockMs, latitude, longitude]: EncodedLevel): Level {
  return { atMs, levelUl, burntUl, isStill: still === 1, noiseUl, clockMs, latitude, longitude };
}

function encodeMark(mark: FuelMark | null): EncodedMark | null {
  return mark && [mark.levelL, mark.usedL, mark.atMs, mark.burntUl, mark.addedL];
}

function decodeMark(mark: EncodedMark | null): FuelMark | null {
  return mark && { levelL: mark[0], usedL: mark[1], atMs: mark[2], burntUl: mark[3], addedL: mark[4] };
}
