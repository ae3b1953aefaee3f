import { byKey, groupKey, Totalled } from '../../kinds/groups.ts';
import { type Column, type ReportChart, type ReportKind, type Row, unitOf } from '../../report.ts';
import type { Readable } from './readable.ts';
import { PAGE, type Sheet, type TextStyle } from './sheet.ts';

/** Bars to draw, in the units of the column. */
export interface Bars {
  measure: Column | null;
  bars: { label: string; value: number }[];
}
export interface Lines {
  measure: Column;
  /** Lines, each with points in the order of their times, in Unix milliseconds. */
  lines: { name: string; points: { atMs: number; value: number }[] }[];
}

/** Maximum number of bars, for a readable chart: the highest are drawn, or on a time axis the first. */
const MOST_BARS = 40;
const MOST_LINES = 6;
/** Maximum points of a line: more would be drawn over each other. */
const MOST_POINTS = 600;

/** Sums of rows as the chart defines them; null when nothing is to be drawn. */
export function barsOf(
  kind: ReportKind,
  { measure: name, by }: ReportChart,
  rows: readonly Row[],
  timeZone: string,
  readable: Readable,
): Bars | null {
  if (by === 'time') return null;
  const at = kind.columns.findIndex((column) => column.name === name);
  const hourAt = kind.columns.findIndex((column) => column.name === 'hour');
  const keyOf = by === 'hour' ? (row: Row) => String(row[hourAt]) : groupKey(kind, by, timeZone);
  const groups = new Map<string, Totalled>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key === null) continue;
    const group = groups.get(key) ?? new Totalled(kind.columns);
    groups.set(key, group);
    group.add(row);
  }
  const sums = [...groups].map(([key, group]): [string, number] => [
    key,
    name === null ? group.rows : (group.at(at) ?? 0),
  ]);
  const isInOrder = by === 'day' || by === 'hour';
  const all = sums.sort(([a, x], [b, y]) => (isInOrder ? byKey(a, b) : y - x)).slice(0, MOST_BARS);
  if (all.length < 2 || all.every(([, value]) => value === 0)) return null;
  const labelOf = (key: string) =>
    by === 'day'
      ? readable.shortDay(key)
      : by === 'hour'
        ? `${key.padStart(2, '0')}:00`
        : by === 'kind'
          ? readable.word('kind', key)
          : key;
  return { measure: kind.columns[at] ?? null, bars: all.map(([key, value]) => ({ label: labelOf(key), value })) };
}

/** The values of the first vehicles over time. */
export function linesOf(kind: ReportKind, { measure: name }: ReportChart, rows: readonly Row[]): Lines | null {
  const at = kind.columns.findIndex((column) => column.name === name);
  const timeAt = kind.columns.findIndex(({ type }) => type === 'time');
  const nameAt = kind.columns.findIndex((column) => column.name === 'vehicleName');
  const sensorAt = kind.columns.findIndex((column) => column.name === 'sensorName');
  const measure = kind.columns[at];
  if (measure === undefined || timeAt < 0) return null;
  const lines = new Map<string, { atMs: number; value: number }[]>();
  for (const row of rows) {
    const value = row[at];
    const atMs = row[timeAt];
    if (typeof value !== 'number' || typeof atMs !== 'number') continue;
    const line = [row[nameAt], row[sensorAt]].filter((part) => part).join(' · ');
    const points = lines.get(line) ?? [];
    if (points.length === 0 && lines.size === MOST_LINES) continue;
    lines.set(line, points);
    points.push({ atMs, value });
  }
  const drawn = [...lines].map(([line, points]) => ({ name: line, points: thinned(points) }));
  return drawn.some(({ points }) => points.length > 1) ? { measure, lines: drawn } : null;
}

function thinned<T>(points: T[]): T[] {
  if (points.length <= MOST_POINTS) return points;
  return Array.from({ length: MOST_POINTS }, (_, nth) => points[Math.floor((nth * points.length) / MOST_POINTS)] as T);
}

const COLORS = ['#2563a8', '#c2571a', '#2f7d4f', '#8a3f9e', '#b3261e', '#6b6f1c'];
const SMALL: TextStyle = { size: 6.5, color: '#5b6675' };
const AXIS = 46;
const LABELS = 30;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function drawBars(sheet: Sheet, readable: Readable, title: string, { measure, bars }: Bars, box: Box): void {
  const text = (value: number) => (measure === null ? readable.number(value) : readable.quantity(measure, value));
  const plot = frame(sheet, title, box, LABELS);
  const top = axis(sheet, plot, [0, Math.max(...bars.map(({ value }) => value))], measure, text)[1];
  const step = plot.width / bars.length;
  const every = Math.ceil(44 / step);
  for (const [nth, { label, value }] of bars.entries()) {
    const height = top === 0 ? 0 : (Math.max(0, value) / top) * plot.height;
    const width = Math.min(36, step * 0.7);
    const x = plot.x + nth * step + (step - width) / 2;
    sheet.box(x, plot.y + plot.height - height, width, height, COLORS[0] ?? '');
    if (step > 34 && value !== 0)
      sheet.text(text(value), x + width / 2 - step / 2, plot.y + plot.height - height - 8, step, {
        ...SMALL,
        align: 'center',
      });
    if (nth % every === 0) {
      const slot = step * every;
      const style: TextStyle = { ...SMALL, align: 'center', lines: 2 };
      sheet.text(label, x + width / 2 - slot / 2 + 1, plot.y + plot.height + 3, slot - 2, style);
    }
  }
}

export function drawLines(sheet: Sheet, readable: Readable, title: string, { measure, lines }: Lines, box: Box): void {
  const plot = frame(sheet, title, box, LABELS);
  const points = lines.flatMap((line) => line.points);
  const values = points.map(({ value }) => value);
  const times = points.map(({ atMs }) => atMs);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const text = (value: number) => readable.quantity(measure, value);
  const [low, high] = axis(sheet, plot, [Math.min(...values), Math.max(...values)], measure, text);
  for (const [nth, line] of lines.entries()) {
    const color = COLORS[nth % COLORS.length] ?? '';
    sheet.doc.lineWidth(1).strokeColor(color);
    for (const [place, { atMs, value }] of line.points.entries()) {
      const x = sheet.left(plot.x + ((atMs - from) / Math.max(1, to - from)) * plot.width, 0);
      const y = plot.y + plot.height - ((value - low) / Math.max(1e-9, high - low)) * plot.height;
      if (place === 0) sheet.doc.moveTo(x, y);
      else sheet.doc.lineTo(x, y);
    }
    sheet.doc.stroke();
    const slot = plot.width / lines.length;
    sheet.box(plot.x + nth * slot, plot.y + plot.height + 18, 8, 3, color);
    sheet.text(line.name, plot.x + nth * slot + 11, plot.y + plot.height + 15, slot - 14, SMALL);
  }
  sheet.text(readable.time(from), plot.x, plot.y + plot.height + 3, plot.width / 2, SMALL);
  sheet.text(readable.time(to), plot.x + plot.width / 2, plot.y + plot.height + 3, plot.width / 2, {
    ...SMALL,
    align: 'end',
  });
}

function frame(sheet: Sheet, title: string, { x, y, width, height }: Box, below: number): Box {
  sheet.text(title, x, y, width, { size: 8.5, isBold: true });
  return { x: x + AXIS, y: y + 24, width: width - AXIS - 4, height: height - 24 - below };
}

/** Draws grid lines with their values. @returns the values at the bottom and at the top */
function axis(
  sheet: Sheet,
  plot: Box,
  [low, high]: readonly [number, number],
  measure: Column | null,
  text: (value: number) => string,
): [number, number] {
  const step = niceStep((high - low) / 4, measure);
  const bottom = Math.floor(low / step) * step;
  const top = Math.max(bottom + step, Math.ceil(high / step) * step);
  for (let value = bottom; value <= top + step / 2; value += step) {
    const y = plot.y + plot.height - ((value - bottom) / (top - bottom)) * plot.height;
    sheet.line(plot.x, y, plot.width, '#dde2e8');
    sheet.text(text(value), plot.x - AXIS, y - 4, AXIS - 4, { ...SMALL, align: 'end' });
  }
  return [bottom, top];
}

/** A step of 1, 2 or 5 times a power of ten; for seconds, of round hours and minutes. */
export function niceStep(rough: number, measure: Column | null): number {
  const base = measure !== null && unitOf(measure) === 's' ? (rough > 3600 ? 3600 : rough > 60 ? 60 : 1) : 1;
  const scaled = Math.max(rough / base, 1e-6);
  const power = 10 ** Math.floor(Math.log10(scaled));
  const found = [1, 2, 5, 10].find((times) => times * power >= scaled) ?? 10;
  return found * power * base;
}

/** Boxes for charts beside each other. */
export function chartBoxes(count: number, y: number, height: number): Box[] {
  const gap = 18;
  const all = PAGE.width - 2 * PAGE.margin;
  const width = (all - gap * (count - 1)) / count;
  return Array.from({ length: count }, (_, nth) => ({ x: nth * (width + gap), y, width, height }));
}
