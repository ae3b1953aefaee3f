import type { Sensor } from '@outrider/client';

export type Point = Sensor['calibration'][number];

/** Maximum number of points of a table. */
export const MOST_POINTS = 200;

export interface ReadPoints {
  /** Sorted by raw value. */
  points: Point[];
  /** Numbers, from 1, of the lines that are not a pair of numbers. */
  wrongLines: number[];
}

/**
 * Parses text copied from a spreadsheet or a data sheet: each line has a raw value and its calibrated value. Cells are
 * separated by tabs, semicolons, commas or spaces. Numbers have a decimal point or, if commas do not separate cells, a
 * decimal comma. A first line without numbers is a heading.
 */
export function readPoints(text: string): ReadPoints {
  const points: Point[] = [];
  const wrongLines: number[] = [];
  const lines = text.split(/\r?\n/);
  let isFirst = true;
  for (const [nth, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const cells = cellsOf(line).map(numberOf);
    const [raw = null, value = null] = cells;
    if (raw !== null && value !== null && cells.length === 2) points.push({ raw, value });
    else if (!isFirst || cells.some((cell) => cell !== null)) wrongLines.push(nth + 1);
    isFirst = false;
  }
  points.sort((a, b) => a.raw - b.raw);
  return { points, wrongLines };
}

function cellsOf(line: string): string[] {
  const parted = [/\t/, /;/, /,\s+|\s+,/, /\s+/, /,/].find((separator) => separator.test(line.trim()));
  return parted === undefined
    ? [line]
    : line
        .trim()
        .split(parted)
        .filter((cell) => cell.trim() !== '');
}

function numberOf(cell: string): number | null {
  const text = cell
    .trim()
    .replace(/\u2212/g, '-')
    .replace(',', '.');
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : null;
}

/** Formats the table for pasting into a spreadsheet. */
export function writePoints(points: readonly Point[]): string {
  return points.map(({ raw, value }) => `${raw}\t${value}`).join('\n');
}

/**
 * Whether the values only increase or only decrease. Those of a tank do. In other tables, a change of direction is
 * often a typing error.
 */
export function isMonotonic(points: readonly Point[]): boolean {
  const steps = points.slice(1).map(({ value }, nth) => Math.sign(value - (points[nth]?.value ?? value)));
  return !(steps.includes(1) && steps.includes(-1));
}

/** Scales for drawing the table in a box of the given size. The point with the lowest values is at the bottom left. */
export function curveOf(
  points: readonly Point[],
  { width, height, margin }: { width: number; height: number; margin: number },
): { x: (raw: number) => number; y: (value: number) => number } {
  const raws = points.map(({ raw }) => raw);
  const values = points.map(({ value }) => value);
  const [leastRaw, mostRaw] = [Math.min(...raws), Math.max(...raws)];
  const [leastValue, mostValue] = [Math.min(...values), Math.max(...values)];
  const share = (value: number, from: number, to: number) =>
    to === from ? 0.5 : Math.min(1, Math.max(0, (value - from) / (to - from)));
  return {
    x: (raw) => margin + share(raw, leastRaw, mostRaw) * (width - 2 * margin),
    y: (value) => height - margin - share(value, leastValue, mostValue) * (height - 2 * margin),
  };
}
