import type { Faults, PlanLine, ReadingLine } from '@outrider/access';
import { readUuid, type TerminalId, type VehicleId } from '@outrider/domain';
import type { Delimiter } from '@outrider/reports';
import type { z } from 'zod';
import { line, timeIn } from '../fields/fields.ts';
import { numberOf, readCsvRows } from './csv-rows.ts';

export const MAX_MAINTENANCE_ROWS = 1000;

const VEHICLE_COLUMNS = ['vehicleId', 'terminalId', 'plate', 'vehicleName'] as const;
const SPANS = [
  ['distanceM', 'Km', 1000, 1_000_000],
  ['engineMs', 'Hours', 3_600_000, 100_000],
  ['days', 'Days', 1, 3660],
  ['counter', 'Counter', 1, 1_000_000_000],
] as const;
export const PLAN_COLUMNS = [
  ...VEHICLE_COLUMNS,
  'group',
  'name',
  'description',
  'everyKm',
  'everyHours',
  'everyDays',
  'warningKm',
  'warningHours',
  'warningDays',
  'counter',
  'everyCounter',
  'warningCounter',
  'startsAt',
] as const;
export const READING_COLUMNS = [...VEHICLE_COLUMNS, 'counter', 'value', 'at', 'note'] as const;

const COUNTER_MAX = 1_000_000_000_000;
/** Unit of each counter's values, and their maximum. Values of custom counters are in the counter's own unit. */
const READING_UNITS: Readonly<Record<string, { factor: number; max: number }>> = Object.assign(Object.create(null), {
  odometer: { factor: 1000, max: 10_000_000 },
  'engine-hours': { factor: 3_600_000, max: 1_000_000 },
});

type Cells = Partial<Record<(typeof PLAN_COLUMNS)[number] | (typeof READING_COLUMNS)[number], string>>;

/** Reads the cells of one row. Errors in them are added to `faults`. */
class RowReader {
  readonly #row: number;
  readonly #cells: Cells;
  readonly #faults: Faults;
  isWrong = false;

  constructor(row: number, cells: Cells, faults: Faults) {
    this.#row = row;
    this.#cells = cells;
    this.#faults = faults;
  }

  wrong(column: keyof Cells, detail: string): null {
    this.isWrong = true;
    this.#faults.add({ row: this.#row, column, detail });
    return null;
  }

  text(column: keyof Cells, schema: z.ZodType<string>): string | null {
    return this.#taken(column, schema);
  }

  time(column: 'at' | 'startsAt'): number | null {
    return this.#taken(column, timeIn);
  }

  #taken<T>(column: keyof Cells, schema: z.ZodType<T>): T | null {
    const cell = this.#cells[column];
    if (!cell) return null;
    const read = schema.safeParse(cell);
    return read.success ? read.data : this.wrong(column, read.error.issues[0]?.message ?? 'It is not valid.');
  }

  number(column: keyof Cells, delimiter: Delimiter, max: number, least: number): number | null {
    const cell = this.#cells[column];
    if (!cell) return null;
    const value = numberOf(cell, delimiter);
    if (value === null) return this.wrong(column, 'It must be a number.');
    const isWithin = value >= least && value <= max && (least > 0 || value >= 0);
    return isWithin ? value : this.wrong(column, `It must be from ${least} to ${max}.`);
  }

  /** Null: the row names no vehicle. */
  get vehicle(): ReadingLine['vehicle'] | null {
    const { terminalId, plate, vehicleName } = this.#cells;
    const vehicleId = this.#cells.vehicleId && readUuid(this.#cells.vehicleId);
    if (vehicleId === null) return this.wrong('vehicleId', 'It must be a UUID.');
    if (!vehicleId && !terminalId && !plate && !vehicleName) return null;
    return {
      id: (vehicleId || null) as VehicleId | null,
      terminalId: (terminalId || null) as TerminalId | null,
      plate: plate || null,
      name: vehicleName || null,
    };
  }
}

export function readPlanLines(text: string, faults: Faults): PlanLine[] {
  const read = (row: number, cells: Cells, delimiter: Delimiter): PlanLine[] => {
    const reader = new RowReader(row, cells, faults);
    const { vehicle } = reader;
    const group = cells.group || null;
    if ((vehicle === null) === (group === null) && !reader.isWrong)
      reader.wrong('group', 'A row must name either a vehicle or a group.');
    const name = reader.text('name', line(100)) ?? '';
    if (name === '' && !reader.isWrong) reader.wrong('name', 'A plan needs a name.');
    const span = (prefix: 'every' | 'warning') =>
      Object.fromEntries(
        SPANS.map(([field, suffix, factor, max]) => {
          const value = reader.number(`${prefix}${suffix}`, delimiter, max, 0.001);
          return [field, value === null ? null : value * factor];
        }),
      ) as unknown as PlanLine['every'];
    const [every, warning] = [span('every'), span('warning')];
    if (Object.values(every).every((each) => each === null) && !reader.isWrong)
      reader.wrong('everyKm', 'A plan needs one of everyKm, everyHours, everyDays and everyCounter.');
    const counterName = reader.text('counter', line(100));
    if ((counterName === null) !== (every.counter === null) && !reader.isWrong)
      reader.wrong(counterName === null ? 'counter' : 'everyCounter', 'counter and everyCounter must be set together.');
    for (const [field, suffix] of SPANS)
      if (warning[field] !== null && warning[field] >= (every[field] ?? 0))
        reader.wrong(`warning${suffix}`, `It must be less than every${suffix}.`);
    const more = { description: reader.text('description', line(1000)), startsAtMs: reader.time('startsAt') };
    return reader.isWrong ? [] : [{ row, vehicle, group, name, counterName, every, warning, ...more }];
  };
  return readCsvRows(text, PLAN_COLUMNS, MAX_MAINTENANCE_ROWS, faults, read).flat();
}

export function readReadingLines(text: string, faults: Faults): ReadingLine[] {
  const read = (row: number, cells: Cells, delimiter: Delimiter): ReadingLine[] => {
    const reader = new RowReader(row, cells, faults);
    const { vehicle } = reader;
    if (vehicle === null && !reader.isWrong) reader.wrong('vehicleId', 'A row needs a vehicle.');
    const counter = reader.text('counter', line(100)) ?? 'odometer';
    const { factor, max } = READING_UNITS[counter] ?? { factor: 1, max: COUNTER_MAX };
    const value = reader.number('value', delimiter, max, 0);
    if (value === null && !reader.isWrong) reader.wrong('value', 'A row needs a value.');
    const more = { atMs: reader.time('at'), note: reader.text('note', line(200)) };
    if (reader.isWrong || vehicle === null || value === null) return [];
    return [{ row, vehicle, counter, value: value * factor, ...more }];
  };
  return readCsvRows(text, READING_COLUMNS, MAX_MAINTENANCE_ROWS, faults, read).flat();
}
