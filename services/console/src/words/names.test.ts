import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCES = join(import.meta.dirname, '..');
/** What people or makers call something: `{vehicle.name}`, `{login}`, `{nameOfDriver(id)}`. */
const NAME = String.raw`\{(?:[\w?.[\]!]+\.)?(?:name|login|plate|target|address|\w+Name)(?: \?\? '[^']*')?\}|\{nameOf\w*\([^(){}]*\)\}`;
/** The only text of an element, or the beginning of it. */
const BARE = new RegExp(String.raw`<(?!bdi|option|title|text)(\w+)(?:\s[^<>]*(?:=>[^<>]*)*)?>\s*(?:${NAME})`, 'g');
/** Two texts put together by hand. */
const JOINED =
  /\[[^\]]*\b(?:\w*[nN]ame|plate|login)\b[^\]]*\](?:\.filter\(Boolean\))?\s*\.join\('(?: · |, |: | – )'\)/g;

/** Names of languages, which `LANGUAGES` has in their own letters. */
const ALONE = ['menu.tsx', 'pages/login.tsx'];

test('names on screens are isolated: in <bdi>, by `joined`, or by the functions of the words', () => {
  const found = globSync('**/*.tsx', { cwd: SOURCES })
    .filter((file) => !ALONE.includes(file))
    .flatMap((file) => {
      const text = readFileSync(join(SOURCES, file), 'utf8');
      return [...text.matchAll(BARE), ...text.matchAll(JOINED)].map(([match]) => `${file}: ${match}`);
    });
  expect(found).toEqual([]);
});
