import type { Engine } from '../engines/engine.ts';
import { ARCHIVE_TABLES, type ArchiveTable, type WatchedTable } from '../tables.ts';
import { covers, gapOf, type Inventory, lostSince } from './compare.ts';
import { type ArchiveGap, readLedger, writeLedger } from './ledger.ts';
import { type ActivePart, type KnownPart, keyOf, knownOf, type Part, type PartsSeen, partsSeen } from './parts.ts';

/** Larger merged parts are not read again: what is known of their source parts is combined. */
const MAX_READ_ROWS = 5_000_000;

/**
 * Compares the archive with its inventory, and notes what it lost.
 *
 * @param isOpenedNow ClickHouse was started for this, and has answered no query yet
 */
export async function noteLosses(engine: Engine, isOpenedNow: boolean): Promise<void> {
  await compared(engine, isOpenedNow);
}

/**
 * Does the same, and takes the inventory for the next comparison. Returns the gaps of the archive.
 *
 * @param log identity of the log that rows come from
 */
export async function inspect(engine: Engine, log: string | null): Promise<ArchiveGap[]> {
  const { inventory, gaps, seen } = await compared(engine);
  const before = inventory?.parts ?? [];
  const [known, active] = [new Set(before.map(keyOf)), new Set(seen.active.map(keyOf))];
  const isArchive = ({ table }: Part) => (ARCHIVE_TABLES as readonly string[]).includes(table);
  const added = seen.active.filter((part) => isArchive(part) && !known.has(keyOf(part)));
  const isLarge = (part: ActivePart) => part.rows > MAX_READ_ROWS && before.some((each) => covers(part, each));
  const merged = added.filter(isLarge).map((part) => mergedOf(part, inventory, seen.nowMs));
  const read = await knownOf(
    engine,
    added.filter((part) => !isLarge(part)),
    log,
  );
  const kept = before.filter((part) => active.has(keyOf(part)));
  if (added.length > 0 || kept.length !== before.length)
    await writeLedger(
      engine,
      { inventory: { takenAtMs: seen.nowMs, parts: [...kept, ...merged, ...read] }, gaps: [] },
      seen.nowMs,
    );
  return gaps;
}

async function compared(
  engine: Engine,
  isOpenedNow = false,
): Promise<{ inventory: Inventory | null; gaps: ArchiveGap[]; seen: PartsSeen }> {
  const { inventory, gaps } = await readLedger(engine);
  const seen = await partsSeen(engine, isOpenedNow);
  const lost = lostSince(inventory, seen, (id) => gaps.some((gap) => gap.id === id));
  await writeLost(engine, lost, seen.nowMs);
  return { inventory, gaps: lacking([...gaps, ...lost]), seen };
}

async function writeLost(engine: Engine, lost: ArchiveGap[], nowMs: number): Promise<void> {
  // Cached measures are validated by late days: without these each trip has to be measured again.
  if (lost.some(({ table }) => table === 'late_days')) await engine.execute('TRUNCATE TABLE measured_trips');
  await writeLedger(engine, { inventory: null, gaps: lost }, nowMs);
}

const lacking = (gaps: readonly ArchiveGap[]) => gaps.filter(({ restored }) => restored !== 'whole');

function mergedOf(part: ActivePart, inventory: Inventory | null, nowMs: number): KnownPart {
  const within = inventory?.parts.filter((each) => covers(part, each)) ?? [];
  const { fromMs, toMs, offsets, hasCorrections, log } = gapOf(
    { ...part, reason: '', path: null },
    within,
    inventory,
    nowMs,
  );
  const vehicles = Math.max(...within.map((each) => each.vehicles));
  return { ...part, fromMs, toMs, vehicles, hasCorrections, log, offsets };
}

/** Parts are checked one by one: a query of all of them would read them whole. */
async function isDamaged(engine: Engine, table: WatchedTable, name: string): Promise<boolean> {
  if (!/^[\w-]+$/.test(name)) throw new TypeError(`${name} is no name of a part`);
  const rows = await engine.select({
    sql: `CHECK TABLE ${table} PART '${name}'`,
    parameters: {},
    queue: 'report',
    limits: { maxSeconds: 600, maxMemoryBytes: 512 * 1024 * 1024 },
  });
  return rows.some(([, isPassed]) => Number(isPassed) === 0);
}

/**
 * Reads a whole part, and if its check sums don't match, detaches it and notes that. Memory and cables fail as well as
 * disks, so a damaged part is read twice.
 *
 * @returns whether it was detached
 */
async function setAsideIfDamaged(engine: Engine, table: WatchedTable, name: string): Promise<boolean> {
  for (let time = 0; time < 2; time++) if (!(await isDamaged(engine, table, name))) return false;
  const { active, nowMs } = await partsSeen(engine);
  const part = active.find((each) => each.table === table && each.name === name);
  if (part === undefined) return false;
  // If the process is killed before the note, the next comparison finds the part among the detached ones.
  await engine.execute(`ALTER TABLE ${table} DETACH PART '${name}'`);
  const { inventory } = await readLedger(engine);
  const within = inventory?.parts.filter((each) => covers(part, each)) ?? [];
  await writeLost(engine, [gapOf({ ...part, reason: 'checksum', path: null }, within, inventory, nowMs)], nowMs);
  return true;
}

/** Detaches the damaged parts that an error names, or checks all. Returns whether any was damaged. */
export async function setAsideDamage(engine: Engine, message: string): Promise<boolean> {
  const { active } = await partsSeen(engine);
  const named = active.filter(({ name }) => message.includes(`${name}/`) || message.includes(`part ${name}`));
  let isFound = false;
  for (const { table, name } of named.length > 0 ? named : active)
    isFound = (await setAsideIfDamaged(engine, table, name)) || isFound;
  return isFound;
}

/** Maximum bytes that a {@link checkSome} reads, but always at least one part. */
export interface Scrub {
  maxBytes: number;
  /** When parts were checked, by table and name: kept by the caller. */
  checkedAtMs: Map<string, number>;
}

/** Checks the least recently checked parts. Returns how many were damaged and detached. */
export async function checkSome(engine: Engine, { maxBytes, checkedAtMs }: Scrub): Promise<number> {
  const { active, nowMs } = await partsSeen(engine);
  const lastMs = (part: Part) => checkedAtMs.get(keyOf(part)) ?? 0;
  const known = new Set(active.map(keyOf));
  for (const id of checkedAtMs.keys()) if (!known.has(id)) checkedAtMs.delete(id);
  let [bytes, damaged] = [0, 0];
  for (const part of active.toSorted((one, other) => lastMs(one) - lastMs(other))) {
    bytes += part.bytes;
    if (bytes > maxBytes && bytes > part.bytes) break;
    checkedAtMs.set(keyOf(part), nowMs);
    if (await setAsideIfDamaged(engine, part.table, part.name)) damaged++;
  }
  return damaged;
}

/** The noted gaps of the archive. */
export async function readGaps(engine: Engine): Promise<ArchiveGap[]> {
  return lacking((await readLedger(engine)).gaps);
}

/** Notes a changed gap. */
export async function updateGap(engine: Engine, gap: ArchiveGap): Promise<void> {
  const [row] = await engine.select({ sql: 'SELECT toUnixTimestamp64Milli(now64(3))', parameters: {} });
  await writeLedger(engine, { inventory: null, gaps: [gap] }, Number(row?.[0]));
}

/**
 * Repeats the deletions of erasures, for rows that were written again from the log.
 *
 * @param sinceMs repeats erasures since then, in Unix milliseconds
 */
export async function repeatErasures(engine: Engine, table: ArchiveTable, sinceMs: number): Promise<number> {
  const rows = await engine.select({
    sql: `SELECT command FROM system.mutations WHERE database = currentDatabase() AND table = {table:String}
        AND toUnixTimestamp(create_time) >= {since:Int64} AND NOT is_killed AND position(command, 'DELETE') > 0
      ORDER BY create_time`,
    parameters: { table, since: Math.floor(sinceMs / 1000) },
  });
  for (const [command] of rows) {
    // ClickHouse writes the command in brackets.
    const deletion = String(command).replace(/^\((.*)\)$/s, '$1');
    if (deletion.startsWith('DELETE WHERE '))
      await engine.execute(`ALTER TABLE ${table} ${deletion} SETTINGS mutations_sync = 0`);
  }
  return rows.length;
}
