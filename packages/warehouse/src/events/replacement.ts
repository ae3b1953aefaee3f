import type { FleetEvent } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { fixedColumn } from '../native/columns.ts';
import { eventBlock } from './block.ts';

/** Makes a recalculated row replace what was published live, in whatever phase and order that arrives. */
const RECALCULATED = 1n << 63n;
/** Phase of a row that replaces an event which turned out never to have happened. */
const REMOVED = 'removed';

/** Condition of every query for events. */
export const NOT_REMOVED = `phase != '${REMOVED}'`;

/** Two more columns for queries that need the writer of a row: see {@link writerOf}. */
export const WRITER_COLUMNS = `precedence >= ${RECALCULATED}, bitAnd(precedence, ${(1n << 62n) - 1n})`;

/** The writer of a row, from its {@link WRITER_COLUMNS}: the recalculation's number, or null for a live event. */
export function writerOf(isRecalculated: unknown, number: unknown): number | null {
  return Number(isRecalculated) === 1 ? Number(number) : null;
}

/** Changes that a recalculation makes to the events of one vehicle. */
export interface EventReplacement {
  /** If two recalculations write the same event, the one with the higher number is valid. A whole number below 2^53. */
  number: number;
  /** New and changed events, each in its latest phase. */
  written: readonly FleetEvent[];
  /** Events that never happened. */
  removed: readonly FleetEvent[];
}

/**
 * Replaces events by their ids, in one insert: a reader sees either all of it or nothing (per month, since a month is a
 * part of its own). A removed event leaves a marker row, because live rows of it may still arrive.
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
