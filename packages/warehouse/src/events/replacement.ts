import type { FleetEvent } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { fixedColumn } from '../native/columns.ts';
import { eventBlock } from './block.ts';

/** What a recalculation wrote stands over what was published live, in whatever phase and order that comes. */
const RECALCULATED = 1n << 63n;
/** Phase of the row that takes an event's place which, as it turned out, never happened. */
const REMOVED = 'removed';

/** Every question about events asks for these alone. */
export const NOT_REMOVED = `phase != '${REMOVED}'`;

/** Two columns more for a question that wants to know by whom a row was written: see {@link writerOf}. */
export const WRITER_COLUMNS = `precedence >= ${RECALCULATED}, bitAnd(precedence, ${(1n << 62n) - 1n})`;

/**
 * Who wrote a row, from its {@link WRITER_COLUMNS}. Returns the recalculation's number, or null for what was published
 * live.
 */
export function writerOf(isRecalculated: unknown, number: unknown): number | null {
  return Number(isRecalculated) === 1 ? Number(number) : null;
}

/** What a recalculation makes of the events of one vehicle. */
export interface EventReplacement {
  /**
   * Of two recalculations that write about one event, the one with the higher number stands. A whole number below 2^53.
   */
  number: number;
  /** Events that are new, or that were otherwise: each in its latest phase. */
  written: readonly FleetEvent[];
  /** Events that never happened. */
  removed: readonly FleetEvent[];
}

/**
 * Puts events in the place of others, by their ids: with one insert, so that a reader sees either all of it or
 * nothing (of each month: a month is a part of its own). An event that is removed leaves a row behind that says so,
 * because live rows of it may still be on their way.
 *
 * @throws {UnfitRecordError} when an id is not a UUID
 */
export async function replaceEvents(engine: Engine, { number, written, removed }: EventReplacement): Promise<void> {
  const gone = removed.map((event) => ({ ...event, phase: REMOVED as FleetEvent['phase'] }) as FleetEvent);
  const block = eventBlock([...written, ...gone].map((value) => ({ offset: 0, value })));
  const precedence = new BigUint64Array(block.rows).fill(RECALCULATED + BigInt(number));
  await engine.insert('events', {
    rows: block.rows,
    columns: block.columns.map((column) =>
      column.name === 'precedence' ? fixedColumn('precedence', 'UInt64', precedence) : column,
    ),
  });
}
