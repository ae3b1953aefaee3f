import type { EventCorrection } from '@outrider/domain';
import {
  correctionsTopic,
  eventsTopic,
  type Log,
  type LogRecord,
  type Topic,
  telemetryRecordsTopic,
} from '@outrider/log';
import type { ArchiveGap, Rows, Warehouse } from '@outrider/warehouse';
import { fitRows, positionRows } from './fit-rows.ts';

export interface RestoreParts {
  log: Pick<Log, 'bounds' | 'locate' | 'read' | 'writtenAtMs'>;
  warehouse: Pick<Warehouse, 'positionRows' | 'eventRows' | 'insert' | 'replaceEvents' | 'repeatErasures'>;
}

/** Maximum rows, or corrections, per write. */
const MAX_ROWS = 50_000;

/**
 * Writes the rows of a gap again, as far as the log has them. The archive keeps repeated rows once, so rows beside
 * those that were lost change nothing. Erasures are repeated.
 *
 * @returns the gap that remains
 */
export async function restore(parts: RestoreParts, gap: ArchiveGap, signal: AbortSignal): Promise<ArchiveGap> {
  const { log, warehouse } = parts;
  const { table, offsets } = gap;
  // All other tables are derived from these.
  if (table !== 'positions' && table !== 'events') return { ...gap, restored: 'whole' };
  let [written, missingUntilMs]: [number, number | null] = [0, null];
  let isCut = false;
  if (offsets !== null) {
    const found =
      table === 'positions'
        ? await writeTopic(parts, telemetryRecordsTopic, gap, offsets, (some) => positionRows(warehouse, some), signal)
        : await writeTopic(parts, eventsTopic, gap, offsets, (some) => warehouse.eventRows(some), signal);
    if (found === null) return { ...gap, restored: 'not' };
    ({ written, missingUntilMs, isCut } = found);
  }
  if (gap.hasCorrections) {
    // Corrections of live events are younger than the events, which were checked above.
    if (offsets === null) missingUntilMs = await missingUntil(log, correctionsTopic, 0);
    written += await correctAgain(parts, gap, signal);
  }
  await warehouse.repeatErasures(table, gap.fromMs);
  if (missingUntilMs === null && !isCut) return { ...gap, restored: 'whole' };
  // If the log lost its end, rows of any time may be missing.
  const untilMs = isCut || missingUntilMs === null ? gap.toMs : Math.min(gap.toMs, missingUntilMs);
  return { ...gap, restored: written === 0 ? 'not' : 'partly', toMs: Math.max(gap.fromMs, untilMs) };
}

/**
 * Time before which rows are missing because the log no longer has the record at an offset and those behind it; null if
 * the log has them.
 */
async function missingUntil<T>(log: RestoreParts['log'], topic: Topic<T>, first: number): Promise<number | null> {
  let untilMs: number | null = null;
  for (const [partition, { earliest, end }] of await log.bounds(topic)) {
    if (earliest <= first) continue;
    const oldestMs = earliest === end ? null : await log.writtenAtMs(topic, partition, earliest);
    untilMs = Math.max(untilMs ?? 0, oldestMs ?? Number.MAX_SAFE_INTEGER);
  }
  return untilMs;
}

/**
 * Writes the records of one topic again, as far as the log has them.
 *
 * @returns null when the offsets are of another log. A restart gives a log another identity, but it knows the earlier
 *   ones. `isCut`: the log lost its end since.
 */
async function writeTopic<T>(
  { log, warehouse }: RestoreParts,
  topic: Topic<T>,
  gap: ArchiveGap,
  { first, last }: NonNullable<ArchiveGap['offsets']>,
  rowsOf: (records: readonly LogRecord<T>[]) => Rows,
  signal: AbortSignal,
): Promise<{ written: number; missingUntilMs: number | null; isCut: boolean } | null> {
  const { discontinuity } = await log.locate(topic, 0, { offset: last ?? first, identity: gap.log });
  if (discontinuity?.kind === 'replaced') return null;
  const missingUntilMs = await missingUntil(log, topic, first);
  let written = 0;
  for (const [partition, { earliest, end }] of await log.bounds(topic)) {
    const [from, to] = [Math.max(first, earliest), last === null ? end : Math.min(last + 1, end)];
    if (from >= to) continue;
    let waiting: Rows[] = [];
    let rows = 0;
    for await (const { records } of log.read(topic, partition, from, to)) {
      signal.throwIfAborted();
      // Records that cannot be archived were set aside when they came.
      for (const some of fitRows(records, rowsOf, () => {})) {
        waiting.push(some);
        rows += some.block.rows;
      }
      if (rows < MAX_ROWS) continue;
      written += await warehouse.insert(waiting);
      [waiting, rows] = [[], 0];
    }
    if (rows > 0) written += await warehouse.insert(waiting);
  }
  return { written, missingUntilMs, isCut: discontinuity?.kind === 'truncated' };
}

/** Writes all corrections by recalculations again that the log has. The last correction of an event prevails. */
async function correctAgain(
  { log, warehouse }: RestoreParts,
  { noticedAtMs }: ArchiveGap,
  signal: AbortSignal,
): Promise<number> {
  let written = 0;
  for (const [partition, { earliest, end }] of await log.bounds(correctionsTopic)) {
    // Higher than the numbers that the archive has for these events, and lower than those of future corrections.
    let number = noticedAtMs;
    let corrections = new Map<string, EventCorrection>();
    const writeSome = async () => {
      const all = [...corrections.values()];
      corrections = new Map();
      await warehouse.replaceEvents({
        number: number++,
        written: all.filter(({ removed }) => !removed).map(({ event }) => event),
        removed: all.filter(({ removed }) => removed).map(({ event }) => event),
      });
      written += all.length;
    };
    for await (const { records } of log.read(correctionsTopic, partition, earliest, end)) {
      signal.throwIfAborted();
      for (const { value } of records) corrections.set(value.event.id, value);
      if (corrections.size >= MAX_ROWS) await writeSome();
    }
    if (corrections.size > 0) await writeSome();
  }
  return written;
}
