import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../dist');
/** Everything that the live map needs, except MapLibre's worker: as browsers get it, with Brotli, … */
const MOST_FIRST_LOAD_KB = 340;
/** … and with gzip, of which MapLibre alone is 300. */
const MOST_FIRST_LOAD_GZIP_KB = 375;
/** What another screen adds to that. */
const MOST_SCREEN_KB = 90;
/** A file with the words of one language. */
const MOST_WORDS_KB = 25;

/** Kilobytes of a built file, as it is sent. */
function gzipKb(file: string): number {
  return gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length / 1000;
}

/** Kilobytes of a built file as the build compressed it with Brotli; small ones are sent as they are. */
function brotliKb(file: string): number {
  const compressed = join(DIST, `${file}.br`);
  return statSync(existsSync(compressed) ? compressed : join(DIST, file)).size / 1000;
}

/** Built files that a file imports at once, with all that they import. */
function closureOf(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(DIST, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/(?:from|import)\s*["`]\.\/([\w.-]+\.js)["`]/g))
    closureOf(`assets/${name}`, found);
  return found;
}

function start(): { index: string; files: Set<string> } {
  const page = readFileSync(join(DIST, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, file = '']) => file);
  const index = named.find((file) => /index-[\w-]+\.js$/.test(file));
  if (index === undefined) throw new Error('the page names no script');
  const files = new Set(named);
  for (const file of named) if (file.endsWith('.js')) closureOf(file, files);
  return { index, files };
}

/** The scripts of the screens, which the start loads later. */
function screensOf(index: string): string[] {
  const text = readFileSync(join(DIST, index), 'utf8');
  return [...text.matchAll(/import\(["`]\.\/(page-[\w-]+\.js)["`]\)/g)].map(([, name]) => `assets/${name}`);
}

function sizeOf(files: Iterable<string>, kbOf: (file: string) => number): number {
  return [...files].reduce((sum, file) => sum + kbOf(file), 0);
}

test('the live map is loaded within its budget, and each other screen adds little to it', () => {
  const { index, files } = start();
  const screens = screensOf(index);
  expect(screens.length).toBeGreaterThan(5);
  const isMap = (screen: string) =>
    [...closureOf(screen)].some((file) => readFileSync(join(DIST, file), 'utf8').includes('texelFetch')) &&
    readFileSync(join(DIST, screen), 'utf8').includes('favourites');
  const map = screens.filter(isMap);
  expect(map).toHaveLength(1);
  const styles = readdirSync(join(DIST, 'assets')).filter((name) => /^map-.*\.css$/.test(name));
  const first = closureOf(map[0] as string, new Set(files));
  for (const style of styles) first.add(`assets/${style}`);
  expect(sizeOf(first, brotliKb)).toBeLessThan(MOST_FIRST_LOAD_KB);
  expect(sizeOf(first, gzipKb)).toBeLessThan(MOST_FIRST_LOAD_GZIP_KB);
  for (const screen of screens) {
    const added = [...closureOf(screen)].filter((file) => !first.has(file));
    expect([screen, sizeOf(added, gzipKb)]).toEqual([screen, expect.toSatisfy((kb: number) => kb < MOST_SCREEN_KB)]);
  }
});

test('the words of a language that is not read are not loaded, and each language is small', () => {
  const { files } = start();
  const text = [...files].map((file) => readFileSync(join(DIST, file), 'utf8')).join('\n');
  const languages = [...text.matchAll(/import\(["`]\.\/((?:ru|de|es|he)-[\w-]+\.js)["`]\)/g)].map(
    ([, name]) => `${name}`,
  );
  expect(languages.map((name) => name.slice(0, 2)).toSorted()).toEqual(['de', 'es', 'he', 'ru']);
  for (const name of languages) {
    expect(files).not.toContain(`assets/${name}`);
    const added = [...closureOf(`assets/${name}`)].filter((file) => !files.has(file));
    expect(sizeOf(added, gzipKb)).toBeLessThan(MOST_WORDS_KB);
  }
});
