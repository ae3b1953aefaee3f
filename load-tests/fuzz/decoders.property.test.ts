import { createRandom } from '@outrider/simulator';
import { expect, test } from 'vitest';
import { countDecoders, fuzzDecoders, replayDecoder } from './decoders.ts';
import { loadTarget, targetNames } from './targets/targets.ts';

test('every target takes its own seeds', async () => {
  for (const name of targetNames) {
    const target = await loadTarget(name);
    for (const seed of target.seeds(createRandom(1)).slice(0, 2)) await target.run(seed);
  }
}, 120_000);

test('a thread runs to its end and reports what it tried', async () => {
  const { tallies, findings } = await fuzzDecoders(['decoder teltonika'], 11, 3000, () => {});
  expect(findings).toEqual([]);
  expect(tallies).toMatchObject([{ target: 'decoder teltonika', findings: 0 }]);
  expect(tallies[0]?.inputs).toBeGreaterThan(0);
}, 120_000);

test('a number of inputs is tried, and what they leave in memory reported', async () => {
  const { tallies, findings } = await countDecoders(['decoder suntech'], 12, 5000, () => {});
  expect(findings).toEqual([]);
  expect(tallies).toMatchObject([{ target: 'decoder suntech', inputs: 5000, findings: 0 }]);
  expect(tallies[0]?.note).toMatch(/MB left in use$/);
}, 120_000);

test('an input is tried again', async () => {
  expect(await replayDecoder('live messages', Buffer.from('{"type":"subscribe","all":true}'))).toEqual([]);
  await expect(replayDecoder('no such target', Buffer.alloc(0))).rejects.toThrow('no such target');
}, 120_000);
