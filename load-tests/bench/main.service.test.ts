import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');

function bench(...args: string[]) {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
}

test('a section runs as often as it is asked for, and the table and the JSON have its figures', {
  timeout: 180_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const json = join(folder, 'bench.json');
  const { status, stdout, stderr } = bench('log', '--quick', '--runs', '2', '--anyway', '--markdown', '--json', json);
  expect(status, stderr).toBe(0);
  expect(stderr).toContain('▸ log, run 2 of 2');
  expect(stdout).toMatch(
    /, \d+ cores, .* 2 short runs each in .*; (others used [\d.]+ cores\s+at most|what others used)/,
  );
  expect(stdout).toContain('| section | what | median | spread | unit | bare | of bare | goal | met |');
  expect(stdout).toMatch(
    /^\| log \| appended and synced, 1 a packet \| [\d,.]+ \| [\d,.]+ – [\d,.]+ \| MB\/s \| [\d,.]+ \| /m,
  );
  expect(stdout).toContain('- log: writes of the same size');
  const results = JSON.parse(readFileSync(json, 'utf8'));
  expect(results.runs.map(({ section }: { section: string }) => section)).toEqual(['log', 'log']);
  expect(results.summaries[0]).toMatchObject({ section: 'log', what: 'appended and synced, 10 a packet', runs: 2 });
});

test('a word that is no section ends it with the words that are', () => {
  const { status, stdout, stderr } = bench('goe');
  expect(status).toBe(1);
  expect(stderr).toContain('no section "goe": there are engine, ');
  expect(stdout).toBe('');
});
