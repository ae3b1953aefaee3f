import type { ArchiveGap } from './ledger.ts';
import { type DetachedPart, type KnownPart, keyOf, type Offsets, type Part, type PartsSeen } from './parts.ts';

/** State of the parts when ClickHouse was last queried. */
export interface Inventory {
  /** Unix milliseconds by the clock of ClickHouse. */
  takenAtMs: number;
  parts: readonly KnownPart[];
}

const DAY_MS = 86_400_000;

/**
 * Finds what an archive has lost since its inventory was taken: parts that ClickHouse detached, and parts that
 * disappeared. Rows disappear legitimately by merges (the merged part has the blocks of all), by retention and by
 * erasures.
 *
 * A missing part counts as erased if rows of its table were deleted since it was written: a part without rows is
 * removed.
 *
 * @param isNoted whether a gap is already noted, by its id
 */
export function lostSince(
  inventory: Inventory | null,
  seen: PartsSeen,
  isNoted: (id: string) => boolean,
): ArchiveGap[] {
  const gone = (inventory?.parts ?? []).filter((part) => !seen.active.some((active) => covers(active, part)));
  const gaps: ArchiveGap[] = [];
  const explained = new Set<KnownPart>();
  const active = new Set(seen.active.map(keyOf));
  for (const detached of outermost(seen.detached)) {
    const known = inventory?.parts.filter((part) => covers(detached, part)) ?? [];
    const within = known.filter((part) => !active.has(keyOf(part)));
    for (const part of within) explained.add(part);
    if (isNoted(idOf(detached)) || isMerged(detached, inventory, seen)) continue;
    // All its source parts exist: they were still on the disk, and ClickHouse used those.
    if (within.length === 0 && known.some(({ lastBlock }) => lastBlock === detached.lastBlock)) continue;
    gaps.push(gapOf(detached, within, inventory, seen.nowMs));
  }
  const takenAtMs = inventory?.takenAtMs ?? 0;
  // While it runs, ClickHouse never drops a part without leaving its files.
  const mayBeLost = takenAtMs < seen.startedAtMs;
  for (const part of gone) {
    if (explained.has(part) || isNoted(idOf(part)) || !mayBeLost) continue;
    if ((seen.lastDeletion.get(part.table) ?? 0) > part.dataVersion) continue;
    const days = seen.retentionDays.get(part.table) ?? 0;
    if (days > 0 && part.toMs < seen.nowMs - (days - 1) * DAY_MS) continue;
    gaps.push(gapOf({ ...part, reason: 'gone', path: null }, [part], inventory, seen.nowMs));
  }
  return gaps;
}

/**
 * Whether an active part has the contents of a detached one. Merged parts are kept for some minutes, and may be damaged
 * like others. A later merge skips the blocks of a lost part, but its name includes them all the same.
 */
function isMerged(detached: DetachedPart, inventory: Inventory | null, { active, isOpenedNow }: PartsSeen): boolean {
  const known = inventory?.parts ?? [];
  const wasActive = known.some((part) => idOf(part) === idOf(detached));
  const before = new Set(known.map(keyOf));
  const isOfThen = (part: Part) => isOpenedNow || !wasActive || before.has(keyOf(part));
  return active.some((part) => covers(part, detached) && isOfThen(part));
}

/** Id by table and blocks: the name of a detached part is prefixed by the reason. */
function idOf({ table, partition, firstBlock, lastBlock }: Part): string {
  return `${table}/${partition}_${firstBlock}_${lastBlock}`;
}

/** Whether a part has all blocks of another. */
export function covers(part: Part, other: Part): boolean {
  return (
    part.table === other.table &&
    part.partition === other.partition &&
    part.firstBlock <= other.firstBlock &&
    part.lastBlock >= other.lastBlock
  );
}

/** Drops parts that another one covers: merged rows count as lost once. */
function outermost(parts: readonly DetachedPart[]): DetachedPart[] {
  return parts.filter(
    (part, at) =>
      !parts.some((other, otherAt) => other !== part && covers(other, part) && !(covers(part, other) && at < otherAt)),
  );
}

/**
 * @param within known parts of its blocks. The part may also, or only, have rows that came after the inventory was
 *   taken: these are of any time of its month, and after all offsets that the inventory knows.
 */
export function gapOf(
  part: Part & { reason: string; path: string | null },
  within: readonly KnownPart[],
  inventory: Inventory | null,
  nowMs: number,
): ArchiveGap {
  const isKnownWhole = within.some(({ lastBlock }) => lastBlock >= part.lastBlock);
  const spans = [...within, ...(isKnownWhole ? [] : [monthOf(part.partition, nowMs)])];
  const offsets = union(within);
  const logOf = (parts: readonly KnownPart[]) => parts.findLast(({ log }) => log !== null)?.log ?? null;
  return {
    id: idOf(part),
    table: part.table,
    path: part.path,
    reason: part.reason,
    fromMs: spans.reduce((least, { fromMs }) => Math.min(least, fromMs), Number.MAX_SAFE_INTEGER),
    toMs: spans.reduce((most, { toMs }) => Math.max(most, toMs), Number.MIN_SAFE_INTEGER),
    rows: isKnownWhole ? within.reduce((sum, { rows }) => sum + rows, 0) : null,
    vehicles: isKnownWhole ? Math.max(...within.map(({ vehicles }) => vehicles)) : null,
    offsets: isKnownWhole ? offsets : { first: offsets?.first ?? firstUnknown(inventory, part.table), last: null },
    hasCorrections: within.some(({ hasCorrections }) => hasCorrections) || (!isKnownWhole && part.table === 'events'),
    log: logOf(within.length > 0 ? within : (inventory?.parts ?? [])),
    noticedAtMs: nowMs,
    restored: null,
    isAccepted: false,
  };
}

/** Offset after all rows in the inventory. For a part of unknown end that is where the part itself begins. */
function firstUnknown(inventory: Inventory | null, table: string): number {
  let offset = 0;
  for (const { table: of, offsets } of inventory?.parts ?? [])
    if (of === table && offsets !== null)
      offset = Math.max(offset, offsets.last === null ? offsets.first : offsets.last + 1);
  return offset;
}

function union(parts: readonly KnownPart[]): Offsets | null {
  const all = parts.flatMap(({ offsets }) => offsets ?? []);
  if (all.length === 0) return null;
  const first = all.reduce((least, offsets) => Math.min(least, offsets.first), Number.MAX_SAFE_INTEGER);
  const isOpen = all.some(({ last }) => last === null);
  return { first, last: isOpen ? null : all.reduce((most, { last }) => Math.max(most, last ?? 0), 0) };
}

/** The month that a partition is named after, or the whole possible interval. */
function monthOf(partition: string, nowMs: number): { fromMs: number; toMs: number } {
  const [, year, month] = /^(\d{4})(\d{2})$/.exec(partition) ?? [];
  if (year === undefined) return { fromMs: 0, toMs: nowMs };
  return {
    fromMs: Date.UTC(Number(year), Number(month) - 1),
    toMs: Math.min(nowMs, Date.UTC(Number(year), Number(month)) - 1),
  };
}
