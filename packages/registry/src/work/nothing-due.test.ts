import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRegistry } from '../index.ts';
import { NothingDue } from './nothing-due.ts';

test('where nothing is due, the query is made again after a write, and when the next work falls due', async () => {
  let version = 'a';
  let asked = 0;
  let found: string[] = [];
  const nothingDue = new NothingDue(() => version);
  const ask = (nowMs: number) =>
    nothingDue.unlessKnown<string[]>(
      'work',
      nowMs,
      [],
      async () => {
        asked++;
        return found;
      },
      async () => 1000,
    );
  expect([await ask(0), await ask(1), await ask(999)]).toEqual([[], [], []]);
  expect(asked).toBe(1);
  await ask(1000);
  expect(asked).toBe(2);
  await ask(500);
  version = 'b';
  found = ['job'];
  expect(await ask(500)).toEqual(['job']);
  expect(await ask(500)).toEqual(['job']);
});

test('work that another connection to the file added, or that falls due, is found at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  let nowMs = Date.UTC(2026, 0, 1);
  const open = () => openRegistry({ path: join(folder, 'registry.sqlite'), now: () => nowMs });
  const worker = await open();
  const other = await open();
  const lease = () => worker.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 1 });
  const add = (afterMs: number) =>
    other.jobs.add({ kind: 'report', subjectId: 'a', parameters: {}, dueAtMs: nowMs + afterMs }, (waiting) => waiting);
  try {
    expect([await lease(), await lease()]).toEqual([null, null]);
    await add(0);
    const first = await lease();
    expect(first).not.toBeNull();
    expect(await lease()).toBeNull();
    // The lease runs out: the job is anyone's.
    nowMs += 1000;
    const again = await lease();
    expect(again?.job.id).toBe(first?.job.id);
    if (again) await worker.jobs.settle(again, { state: 'done', result: {} });
    await add(500);
    expect(await lease()).toBeNull();
    nowMs += 500;
    expect(await lease()).not.toBeNull();
  } finally {
    await Promise.all([worker.close(), other.close()]);
    rmSync(folder, { recursive: true });
  }
});
