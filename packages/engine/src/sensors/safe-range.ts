import type { CalibrationPoint } from '@outrider/domain';
import type { Line } from './expression.ts';

/** Numbers from `min` to `max`. */
export interface Range {
  min: number;
  max: number;
}

/** Far more than accumulated rounding errors, and far less than the resolution of a sensor. */
const TOLERANCE = 1e-9;

/**
 * Range of an attribute or field within which the value of its sensor is certainly in `values`. It need not contain all
 * such inputs: it is the widest contiguous range.
 *
 * @param calibration the points of the sensor's table, sorted by raw value; none: the raw value counts
 * @returns null without such a range
 */
export function safeRange(
  { factor, offset, magnitude }: Line,
  calibration: readonly CalibrationPoint[],
  clamps: boolean,
  values: Range,
): Range | null {
  if (!(factor !== 0 && Number.isFinite(factor) && Number.isFinite(offset))) return null;
  const raw = calibration.length === 0 ? values : rawRange(calibration, clamps, values);
  const sure = raw && narrowed(raw, magnitude);
  if (sure === null) return null;
  const ends = [(sure.min - offset) / factor, (sure.max - offset) / factor];
  return narrowed({ min: Math.min(...ends), max: Math.max(...ends) }, Math.abs(offset / factor));
}

/** The range, made finite and narrowed at both ends by more than the rounding errors; null: nothing is left. */
function narrowed({ min, max }: Range, magnitude: number): Range | null {
  const from = Math.max(min, -Number.MAX_VALUE);
  const to = Math.min(max, Number.MAX_VALUE);
  const left = {
    min: from + TOLERANCE * Math.max(Math.abs(from), magnitude),
    max: to - TOLERANCE * Math.max(Math.abs(to), magnitude),
  };
  return left.min <= left.max ? left : null;
}

/** Of the contiguous ranges of raw values that map into a range of values, the one that covers most of the table. */
function rawRange(points: readonly CalibrationPoint[], clamps: boolean, values: Range): Range | null {
  const sure = narrowed(values, Math.max(...points.map(({ value }) => Math.abs(value))));
  if (sure === null) return null;
  const all: Range[] = [];
  for (const { min, max, at, value, slope } of piecesOf(points, clamps)) {
    const inside = insideOf(min, max, at, value, slope, sure);
    const before = all.at(-1);
    if (inside === null) continue;
    if (before?.max === inside.min) before.max = inside.max;
    else all.push(inside);
  }
  const [first, last] = [points[0]?.raw ?? 0, points.at(-1)?.raw ?? 0];
  const widthOf = ({ min, max }: Range) => Math.min(max, last) - Math.max(min, first);
  return all.sort((a, b) => widthOf(b) - widthOf(a))[0] ?? null;
}

/** A linear piece of a table over a range of raw values: it goes through a point and rises by `slope`. */
interface Piece extends Range {
  at: number;
  value: number;
  slope: number;
}

function piecesOf(points: readonly CalibrationPoint[], clamps: boolean): Piece[] {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return [];
  if (points.length === 1)
    return [{ min: -Number.MAX_VALUE, max: Number.MAX_VALUE, at: first.raw, value: first.value, slope: 0 }];
  const between = points.slice(1).map((to, nth): Piece => {
    const from = points[nth] as CalibrationPoint;
    const slope = (to.value - from.value) / (to.raw - from.raw);
    return { min: from.raw, max: to.raw, at: from.raw, value: from.value, slope };
  });
  const slopeOf = (piece: Piece | undefined) => (clamps ? 0 : (piece?.slope ?? 0));
  return [
    { min: -Number.MAX_VALUE, max: first.raw, at: first.raw, value: first.value, slope: slopeOf(between[0]) },
    ...between,
    { min: last.raw, max: Number.MAX_VALUE, at: last.raw, value: last.value, slope: slopeOf(between.at(-1)) },
  ];
}

function insideOf(min: number, max: number, at: number, value: number, slope: number, values: Range): Range | null {
  if (slope === 0) return value >= values.min && value <= values.max ? { min, max } : null;
  const ends = [at + (values.min - value) / slope, at + (values.max - value) / slope];
  const from = Math.max(min, Math.min(...ends));
  const to = Math.min(max, Math.max(...ends));
  return from <= to ? { min: from, max: to } : null;
}
