import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BuildCommand, buildConsole, reasonToBuild } from './console-build.ts';

const script = (text: string): BuildCommand => ({ command: process.execPath, args: ['--eval', text] });
const BUILDS = script(
  "fs.mkdirSync('services/console/dist', { recursive: true }); fs.writeFileSync('services/console/dist/index.html', 'built')",
);
const FAILS = script("console.error('words.ts: unknown word'); process.exit(2)");

let root: string;
let printed: string;
const print = (text: string) => {
  printed += text;
};

beforeEach(() => {
  printed = '';
  root = mkdtempSync(join(tmpdir(), 'console-build-'));
  for (const folder of ['services/console/src', 'packages/client/src', 'node_modules/vite'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['services/console/package.json', 'packages/client/package.json', 'services/console/src/app.ts'])
    writeFileSync(join(root, file), '');
  setAge('services/console', 'services/console/src', 'services/console/src/app.ts', 'services/console/package.json');
  setAge('packages/client/src', 'packages/client/package.json');
});
afterEach(() => rmSync(root, { recursive: true }));

/** Makes these an hour old. */
function setAge(...paths: string[]): void {
  const time = Date.now() / 1000 - 3600;
  for (const path of paths) utimesSync(join(root, path), time, time);
}

test('built where it is missing, and not again while its sources stay the same', async () => {
  expect(reasonToBuild(root)).toBe('missing');
  expect(await buildConsole(print, root, BUILDS)).toBe(true);
  expect(printed).toMatch(/^The console is missing: building it … done in [\d.]+ s\.\n$/);
  expect(reasonToBuild(root)).toBeNull();
  printed = '';
  expect(await buildConsole(print, root, FAILS)).toBe(true);
  expect(printed).toBe('');
});

test('built again when a source changes, is added or is removed; tests are no sources', async () => {
  await buildConsole(print, root, BUILDS);
  const later = Date.now() / 1000 + 60;
  writeFileSync(join(root, 'packages/client/src/live.test.ts'), '');
  utimesSync(join(root, 'packages/client/src/live.test.ts'), later, later);
  setAge('packages/client/src');
  expect(reasonToBuild(root)).toBeNull();
  utimesSync(join(root, 'services/console/src/app.ts'), later, later);
  expect(reasonToBuild(root)).toBe('older than its sources');
  setAge('services/console/src/app.ts');
  expect(reasonToBuild(root)).toBeNull();
  utimesSync(join(root, 'packages/client/src'), later, later);
  expect(reasonToBuild(root)).toBe('older than its sources');
});

test('a failure is printed with its reason, and stops nothing', async () => {
  expect(await buildConsole(print, root, FAILS)).toBe(false);
  expect(printed).toContain('The service starts without it.');
  expect(printed).toContain('words.ts: unknown word');
  expect(await buildConsole(print, root, { command: join(root, 'none'), args: [] })).toBe(false);
  expect(printed).toContain('ENOENT');
});

test('nothing is tried where there are no sources, or nothing to build them with', async () => {
  rmSync(join(root, 'node_modules/vite'), { recursive: true });
  expect(await buildConsole(print, root, BUILDS)).toBe(false);
  rmSync(join(root, 'services/console'), { recursive: true });
  expect(await buildConsole(print, root, BUILDS)).toBe(false);
  expect(printed).toBe('');
});
