import { describe, expect, test } from 'vitest';
import type { WatchedTable } from '../tables.ts';
import { type Inventory, lostSince } from './compare.ts';
import type { DetachedPart, KnownPart, PartsSeen } from './parts.ts';

const NOW = Date.UTC(2026, 0, 20);
const DAY_MS = 86_400_000;

function part(name: string, more: Partial<KnownPart> = {}): KnownPart {
  const [partition = '', firstBlock, lastBlock] = name.split('_');
  return {
    ...{ table: 'positions', name, partition, firstBlock: Number(firstBlock), lastBlock: Number(lastBlock) },
    ...{ rows: 100, bytes: 1000, dataVersion: Number(firstBlock), vehicles: 2, log: 'a log', hasCorrections: false },
    ...{ fromMs: NOW - 3 * DAY_MS, toMs: NOW - 2 * DAY_MS },
    offsets: { first: Number(firstBlock) * 10, last: Number(lastBlock) * 10 + 9 },
    ...more,
  };
}

function seen(active: readonly string[], more: Partial<PartsSeen> = {}): PartsSeen {
  return {
    ...{
      nowMs: NOW,
      startedAtMs: NOW,
      isOpenedNow: true,
      detached: [],
      lastDeletion: new Map(),
      retentionDays: new Map(),
    },
    active: active.map((name) => part(name)),
    ...more,
  };
}

function detached(name: string, reason = 'broken-on-start'): DetachedPart {
  const [partition = '', first, last] = name.split('_');
  return {
    ...{ table: 'positions', name: `${reason}_${name}`, partition, firstBlock: Number(first), lastBlock: Number(last) },
    ...{ reason, path: `/archive/detached/${reason}_${name}` },
  };
}

const inventory = (...parts: KnownPart[]): Inventory => ({ takenAtMs: NOW - 60_000, parts });
const lost = (before: Inventory | null, now: PartsSeen, noted: readonly string[] = []) =>
  lostSince(before, now, (id) => noted.includes(id));

describe('what went in order is not lost', () => {
  const before = inventory(part('202601_1_1_0'), part('202601_2_2_0'), part('202601_3_3_0'));

  test('by merges and mutations', () => {
    expect(lost(before, seen(['202601_1_2_1', '202601_3_3_0_9']))).toEqual([]);
  });
  test('by retention, as far as it is over for the last of the rows', () => {
    const retentionDays = new Map<WatchedTable, number>([['positions', 2]]);
    expect(lost(before, seen(['202601_1_2_1'], { retentionDays }))).toEqual([]);
    retentionDays.set('positions', 4);
    expect(lost(before, seen(['202601_1_2_1'], { retentionDays }))).toMatchObject([{ id: 'positions/202601_3_3' }]);
  });
  test('by an erasure that was not applied to it before', () => {
    const now = (number: number) => seen(['202601_1_2_1'], { lastDeletion: new Map([['positions', number]]) });
    expect(lost(before, now(4))).toEqual([]);
    expect(lost(before, now(2))).toMatchObject([{ id: 'positions/202601_3_3' }]);
  });
  test('while ClickHouse ran', () => {
    expect(lost(before, seen([], { startedAtMs: NOW - 120_000 }))).toEqual([]);
  });
  test('where it was noted before', () => {
    expect(lost(before, seen(['202601_1_2_1']), ['positions/202601_3_3'])).toEqual([]);
  });
});

describe('what is lost', () => {
  test('a part without a trace, with what was known of it', () => {
    const before = inventory(part('202601_1_1_0'), part('202601_2_2_0'));
    expect(lost(before, seen(['202601_1_1_0']))).toEqual([
      {
        ...{ id: 'positions/202601_2_2', table: 'positions', path: null, reason: 'gone', rows: 100, vehicles: 2 },
        ...{ fromMs: NOW - 3 * DAY_MS, toMs: NOW - 2 * DAY_MS, offsets: { first: 20, last: 29 }, log: 'a log' },
        ...{ hasCorrections: false, noticedAtMs: NOW, restored: null, isAccepted: false },
      },
    ]);
  });

  test('a merged part that no inventory had: all that it was made of, once', () => {
    const before = inventory(part('202601_1_1_0'), part('202601_2_4_1', { toMs: NOW }), part('202601_9_9_0'));
    const now = seen(['202601_9_9_0'], { detached: [detached('202601_1_4_2'), detached('202601_2_4_1')] });
    expect(lost(before, now)).toMatchObject([
      { id: 'positions/202601_1_4', rows: 200, toMs: NOW, offsets: { first: 10, last: 49 }, reason: 'broken-on-start' },
    ]);
  });

  test('a merged part with rows that came after the inventory: what was known, and all that came since', () => {
    const before = inventory(part('202601_1_1_0'), part('202601_2_2_0'));
    const now = seen([], { startedAtMs: 0, detached: [detached('202601_1_3_1')] });
    expect(lost(before, now)).toMatchObject([
      {
        rows: null,
        fromMs: Date.UTC(2026, 0, 1),
        toMs: NOW,
        offsets: { first: 10, last: null },
      },
    ]);
  });

  test('no part whose sources are still there', () => {
    const before = inventory(part('202601_1_1_0'), part('202601_2_2_0'));
    const now = seen(['202601_1_1_0', '202601_2_2_0'], { detached: [detached('202601_1_2_1')] });
    expect(lost(before, now)).toEqual([]);
  });

  test('no outdated part that is damaged: what it had was merged', () => {
    const before = inventory(part('202601_1_1_0'), part('202601_2_2_0'), part('202601_3_3_0'));
    const merged = { detached: [detached('202601_2_2_0')] };
    expect(lost(before, seen(['202601_1_3_1'], merged))).toEqual([]);
    expect(lost(null, seen(['202601_1_3_1'], { ...merged, isOpenedNow: false }))).toEqual([]);
    // Where ClickHouse was not just started, the merge may have come after the loss.
    expect(lost(before, seen(['202601_1_3_1'], { ...merged, isOpenedNow: false }))).toMatchObject([
      { id: 'positions/202601_2_2' },
    ]);
  });

  test('a part that came after the inventory: its month, and all offsets behind those that are known', () => {
    const now = seen(['202601_1_1_0'], { detached: [detached('202601_5_5_0')] });
    expect(lost(inventory(part('202601_1_1_0')), now)).toMatchObject([
      { rows: null, fromMs: Date.UTC(2026, 0, 1), toMs: NOW, offsets: { first: 20 }, log: 'a log' },
    ]);
    // Behind one whose end is not known nothing begins: it is looked for from its beginning.
    const open = part('202601_1_1_0', { offsets: { first: 15, last: null } });
    expect(lost(inventory(open), now)).toMatchObject([{ offsets: { first: 15, last: null } }]);
    expect(lost(null, now)).toMatchObject([{ id: 'positions/202601_5_5', offsets: { first: 0 }, log: null }]);
  });
});
