import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CpuProfile, profileTables, selfTimes } from './profiles.ts';

const file = (path: string) => new URL(`../../${path}`, import.meta.url).href;
const frame = (functionName: string, url = '', lineNumber = 0) => ({ functionName, url, lineNumber });
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)') },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('push', file('packages/protocols/src/a.ts'), 9) },
    // The same function, called from elsewhere.
    { id: 4, callFrame: frame('push', file('packages/protocols/src/a.ts'), 9) },
    { id: 5, callFrame: frame('', file('services/gateway/src/service.ts'), 0) },
    { id: 6, callFrame: frame('(garbage collector)') },
  ],
  samples: [2, 3, 4, 5, 6, 2],
  timeDeltas: [9000, 1000, 2000, 500, 1500, 9000],
};

test('functions are listed by the time that they ran themselves, and waiting is not counted', () => {
  expect(selfTimes(profile)).toEqual({
    busyMs: 5,
    entry: 'gateway',
    functions: [
      { name: 'push packages/protocols/src/a.ts:10', selfMs: 3 },
      { name: '(garbage collector)', selfMs: 1.5 },
      { name: '(anonymous) services/gateway/src/service.ts:1', selfMs: 0.5 },
    ],
  });
});

test('each thread of a folder has a table, the busiest first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-profiles-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const idle = { ...profile, samples: [2, 6], timeDeltas: [1000, 1000] };
  writeFileSync(join(folder, 'CPU.20260101.120000.77.0.001.cpuprofile'), JSON.stringify(idle));
  writeFileSync(join(folder, 'CPU.20260101.120000.77.1.002.cpuprofile'), JSON.stringify(profile));
  const tables = profileTables(folder);
  expect(tables.map(({ title }) => title.split(';')[0])).toEqual([
    'Process 77, thread 1 (gateway): 5 ms busy',
    'Process 77, thread 0 (gateway): 1 ms busy',
  ]);
  expect(tables[0]?.rows[0]).toEqual([3, 60, 'push packages/protocols/src/a.ts:10']);
});
