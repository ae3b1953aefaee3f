import type { Engine } from '../engines/engine.ts';
import { fixedColumn, StringValues } from '../native/columns.ts';
import type { WatchedTable } from '../tables.ts';
import type { Inventory } from './compare.ts';
import type { Offsets } from './parts.ts';

/** Rows that the archive has lost. */
export interface ArchiveGap {
  /** Table, month and blocks, such as `positions/202610_1_1`. */
  id: string;
  table: WatchedTable;
  /** Current folder of the part's files; null if they are gone. */
  path: string | null;
  /** Why ClickHouse detached the part (`broken-on-start`); `checksum`: it was read and is damaged; `gone`. */
  reason: string;
  /** Unix milliseconds of its first and its last row; the whole month where nothing was known of the part. */
  fromMs: number;
  toMs: number;
  /** Null where nothing was known of the part. */
  rows: number | null;
  vehicles: number | null;
  /** Offsets of its rows in the log; null if none came from it. */
  offsets: Offsets | null;
  /** Whether recalculations wrote some of its rows. */
  hasCorrections: boolean;
  /** Identity of the log that the offsets belong to; null if unknown. */
  log: string | null;
  noticedAtMs: number;
  /** Whether its rows were written again from the log; null where that was not tried yet. */
  restored: 'whole' | 'partly' | 'not' | null;
  /** Whether an operator has acknowledged the gap: it causes no more warnings, but reports still include it. */
  isAccepted: boolean;
}

/** The expected parts of the archive and its losses: notes in a table of its own, each by its name. */
export interface Ledger {
  inventory: Inventory | null;
  gaps: readonly ArchiveGap[];
}

export const CREATE_LEDGER = `
CREATE TABLE IF NOT EXISTS archive_ledger (name String CODEC(ZSTD(1)), version UInt64, note String CODEC(ZSTD(1)))
ENGINE = ReplacingMergeTree(version)
ORDER BY name
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1`;

const INVENTORY = 'inventory';

export async function readLedger(engine: Engine): Promise<Ledger> {
  const rows = await engine.select({ sql: 'SELECT name, note FROM archive_ledger FINAL', parameters: {} });
  const notes = new Map(rows.map(([name, note]) => [String(name), JSON.parse(String(note)) as unknown]));
  const inventory = (notes.get(INVENTORY) ?? null) as Inventory | null;
  notes.delete(INVENTORY);
  return { inventory, gaps: [...notes.values()] as ArchiveGap[] };
}

/** Replaces notes of the same names. When it resolves they are durable. */
export async function writeLedger(engine: Engine, { inventory, gaps }: Ledger, nowMs: number): Promise<void> {
  const notes: [name: string, note: object][] = gaps.map((gap) => [gap.id, gap]);
  if (inventory !== null) notes.push([INVENTORY, inventory]);
  if (notes.length === 0) return;
  const [names, texts] = [new StringValues(), new StringValues()];
  for (const [name, note] of notes) {
    names.push(name);
    texts.push(JSON.stringify(note));
  }
  const versions = new BigUint64Array(notes.length).fill(BigInt(nowMs));
  await engine.insert('archive_ledger', {
    rows: notes.length,
    columns: [names.column('name'), fixedColumn('version', 'UInt64', versions), texts.column('note')],
  });
}
