import type { Faults } from '@outrider/access';
import {
  ALARMS,
  type Alarm,
  type AttributeValue,
  blankPosition,
  NO_ALARMS,
  type Position,
  rejectionOf,
} from '@outrider/domain';
import type { Delimiter } from '@outrider/reports';
import { z } from 'zod';
import { timeIn } from '../fields/fields.ts';
import { numberOf, readCsvRows } from './csv-rows.ts';

export const MAX_HISTORY_ROWS = 20_000;
/** Columns of an import, named as in the track report. */
export const HISTORY_COLUMNS = [
  'fixTime',
  'latitude',
  'longitude',
  'valid',
  'speedKmh',
  'courseDeg',
  'altitudeM',
  'satellites',
  'ignition',
  'odometerM',
  'supplyV',
  'fuelL',
  'alarms',
  'attributes',
] as const;
/** Columns of that report that an import ignores. */
const PASSED_OVER = ['vehicleId', 'vehicleName', 'rejection'] as const;
type Column = (typeof HISTORY_COLUMNS)[number] | (typeof PASSED_OVER)[number];

/** Range of each number column. */
const NUMBERS = {
  speedKmh: [0, 1000],
  courseDeg: [0, 360],
  altitudeM: [-1000, 20_000],
  satellites: [0, 255],
  odometerM: [0, 1e10],
  supplyV: [0, 1000],
  fuelL: [0, 100_000],
} as const satisfies Partial<Record<Column, readonly [number, number]>>;
const MAX_ATTRIBUTES = 96;
const attributesIn = z
  .record(z.string().min(1).max(64), z.union([z.number(), z.string().max(200), z.boolean()]))
  .refine(
    (attributes) => Object.keys(attributes).length <= MAX_ATTRIBUTES,
    `It must have at most ${MAX_ATTRIBUTES} attributes.`,
  );
const alarmsIn = z.array(z.enum(ALARMS)).max(ALARMS.length);
const REASONS = {
  'out-of-range': ['latitude', 'The latitude or the longitude is out of range.'],
  'null-island': ['latitude', 'The position is 0/0, which a receiver reports before its first fix.'],
  'time-in-future': ['fixTime', 'It is in the future.'],
  'time-too-old': ['fixTime', 'It is before 2005.'],
  jump: ['fixTime', 'The position is too far from the last one: a jump.'],
} as const;

/** Reads the rows of a CSV as positions. Errors in them are added to `faults`. */
export function readHistory(text: string, faults: Faults, nowMs: number): Position[] {
  return readCsvRows<Column, Position>(
    text,
    [...HISTORY_COLUMNS, ...PASSED_OVER],
    MAX_HISTORY_ROWS,
    faults,
    (row, cells, delimiter) =>
      readRow(cells, delimiter, nowMs, (column, detail) => faults.add({ row, column, detail })),
  );
}

function readRow(
  cells: Partial<Record<Column, string>>,
  delimiter: Delimiter,
  nowMs: number,
  wrong: (column: Column, detail: string) => void,
): Position {
  let isWrong = false;
  const fail = (column: Column, detail: string) => {
    isWrong = true;
    wrong(column, detail);
  };
  const number = (column: Column, least: number, most: number): number | null => {
    const cell = cells[column] ?? '';
    if (cell === '') return null;
    const value = numberOf(cell, delimiter);
    if (value !== null && value >= least && value <= most) return value;
    fail(column, `It must be a number from ${least} to ${most}.`);
    return null;
  };
  const flag = (column: Column): boolean | null => {
    const cell = cells[column] ?? '';
    if (cell === 'true' || cell === 'false') return cell === 'true';
    if (cell !== '') fail(column, 'It must be true or false.');
    return null;
  };
  const time = timeIn.safeParse(cells.fixTime ?? '');
  if (!time.success) fail('fixTime', 'It must be a time in ISO 8601, such as 2026-01-15T12:00:00Z.');
  const latitude = number('latitude', -90, 90);
  const longitude = number('longitude', -180, 180);
  if (latitude === null && !isWrong) fail('latitude', 'It is missing.');
  if (longitude === null && !isWrong) fail('longitude', 'It is missing.');
  const position: Position = {
    ...blankPosition(time.data ?? 0, latitude ?? 0, longitude ?? 0),
    valid: flag('valid') ?? true,
    ignition: flag('ignition'),
    alarms: json('alarms', cells, alarmsIn, fail) ?? NO_ALARMS,
    attributes: json('attributes', cells, attributesIn, fail),
  };
  for (const [column, [least, most]] of Object.entries(NUMBERS) as [keyof typeof NUMBERS, readonly [number, number]][])
    position[column] = number(column, least, most);
  if (position.courseDeg === 360) position.courseDeg = 0;
  const rejection = isWrong ? null : rejectionOf(position, nowMs);
  if (rejection !== null) fail(REASONS[rejection][0], REASONS[rejection][1]);
  return position;
}

function json<T extends readonly Alarm[] | Record<string, AttributeValue>>(
  column: Column,
  cells: Partial<Record<Column, string>>,
  schema: z.ZodType<T>,
  fail: (column: Column, detail: string) => void,
): T | null {
  const cell = cells[column] ?? '';
  if (cell === '') return null;
  try {
    const read = schema.safeParse(JSON.parse(cell));
    if (read.success) return read.data;
    fail(column, read.error.issues[0]?.message ?? 'It is not valid.');
  } catch {
    fail(column, 'It must be JSON.');
  }
  return null;
}
