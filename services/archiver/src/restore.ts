import type { EventCorrection } from '@outrider/domain';
import {
  correctionsTopic,
  eventsTopic,
  type Log,
  type Topic,
  telemetryRecordsTopic,
  UnreadableRecordError,
} from '@outrider/log';
import { type ArchiveGap, type Recorded, type Rows, UnfitRecordError, type Warehouse } from '@outrider/warehouse';

export interface RestoreParts {
  log: Pick<Log, 'bounds' | 'locate' | 'read' | 'writtenAtMs'>;
  warehouse: Pick<Warehouse, 'positionRows' | 'eventRows' | 'insert' | 'replaceEvents' | 'repeatErasures'>;
}

/** Rows, and corrections, that are written together. */
const MAX_ROWS = 50_000;

/**
 * Writes the rows of a gap again, as far as the log has them. The archive has repeated rows once, so rows beside those
 * that were lost change nothing. What erasures took is taken again.
 *
 * @returns what is missing then
 */
export async function restore(parts: RestoreParts, gap: ArchiveGap, signal: AbortSignal): Promise<ArchiveGap> {
  const { log, warehouse } = parts;
  const { table, offsets } = gap;
  // All others are made from these.
  if (table !== 'positions' && table !== 'events') return { ...gap, restored: 'whole' };
  const topic = table === 'positions' ? telemetryRecordsTopic : eventsTopic;
  const kept = offsets === null ? 'all' : await keptOf(log, topic, gap.log, offsets);
  if (kept === 'nothing') return { ...gap, restored: 'not' };
  let [written, missingUntilMs]: [number, number | null] = [0, null];
  if (table === 'positions' && offsets !== null) {
    missingUntilMs = await missingUntil(log, telemetryRecordsTopic, offsets.first);
    written = await write(parts, telemetryRecordsTopic, offsets, (some) => warehouse.positionRows(some), signal);
  }
  if (table === 'events' && offsets !== null) {
    missingUntilMs = await missingUntil(log, eventsTopic, offsets.first);
    written = await write(parts, eventsTopic, offsets, (some) => warehouse.eventRows(some), signal);
  }
  if (gap.hasCorrections) {
    // Of events from live data, corrections are younger than what they correct.
    if (offsets === null) missingUntilMs = await missingUntil(log, correctionsTopic, 0);
    written += await correctAgain(parts, gap, signal);
  }
  await warehouse.repeatErasures(table, gap.fromMs);
  if (missingUntilMs === null && kept === 'all') return { ...gap, restored: 'whole' };
  const toMs = Math.max(
    gap.fromMs,
    Math.min(gap.toMs, (kept === 'all' ? missingUntilMs : null) ?? Number.MAX_SAFE_INTEGER),
  );
  return { ...gap, restored: written === 0 ? 'not' : 'partly', toMs };
}

/**
 * What of offsets is of this log: a restart gives it another identity, but it knows the earlier ones. Those that
 * retention removed count as well.
 */
async function keptOf(
  log: RestoreParts['log'],
  topic: Topic<unknown>,
  identity: string | null,
  { first, last }: NonNullable<ArchiveGap['offsets']>,
): Promise<'all' | 'some' | 'nothing'> {
  // Without a known end it is all that there is from the first on.
  const offset = last < Number.MAX_SAFE_INTEGER - 1 ? last : first;
  const { discontinuity } = await log.locate(topic, 0, { offset, identity });
  if (discontinuity?.kind === 'replaced') return 'nothing';
  return discontinuity?.kind === 'truncated' ? 'some' : 'all';
}

/**
 * Rows that came before a time are missing, where the log has no longer the record at an offset and those behind it;
 * null where it has.
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

async function write<T>(
  { log, warehouse }: RestoreParts,
  topic: Topic<T>,
  { first, last }: NonNullable<ArchiveGap['offsets']>,
  rowsOf: (records: readonly Recorded<T>[]) => Rows,
  signal: AbortSignal,
): Promise<number> {
  let written = 0;
  for (const [partition, { earliest, end }] of await log.bounds(topic)) {
    const [from, to] = [Math.max(first, earliest), Math.min(last + 1, end)];
    if (from >= to) continue;
    let waiting: Rows[] = [];
    let rows = 0;
    for await (const { records } of log.read(topic, partition, from, to)) {
      signal.throwIfAborted();
      for (const some of fit(records, rowsOf)) {
        waiting.push(some);
        rows += some.block.rows;
      }
      if (rows < MAX_ROWS) continue;
      written += await warehouse.insert(waiting);
      [waiting, rows] = [[], 0];
    }
    if (rows > 0) written += await warehouse.insert(waiting);
  }
  return written;
}

/** Rows of the records that can be archived: what can't be was put aside when it came. */
function fit<T>(records: readonly Recorded<T>[], rowsOf: (records: readonly Recorded<T>[]) => Rows): Rows[] {
  try {
    return [rowsOf(records)];
  } catch (error) {
    const isUnfit = error instanceof UnfitRecordError || error instanceof UnreadableRecordError;
    if (!isUnfit) throw error;
    if (records.length === 1) return [];
    const half = records.length >> 1;
    return [...fit(records.slice(0, half), rowsOf), ...fit(records.slice(half), rowsOf)];
  }
}

/** Writes again what recalculations made of events, all that the log has: of an event the last stands. */
async function correctAgain(
  { log, warehouse }: RestoreParts,
  { noticedAtMs }: ArchiveGap,
  signal: AbortSignal,
): Promise<number> {
  let written = 0;
  for (const [partition, { earliest, end }] of await log.bounds(correctionsTopic)) {
    // Above what the archive has of these events, and below what is made of them from now on, which is numbered higher.
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
