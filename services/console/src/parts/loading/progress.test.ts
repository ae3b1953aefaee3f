import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCES = join(import.meta.dirname, '../..');

test('each progress bar and each meter has an accessible name, or is hidden from those who need one', () => {
  const bars = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx'))
    .flatMap((file) =>
      [...readFileSync(join(SOURCES, file), 'utf8').matchAll(/<(progress|meter)\b[^>]*>/g)].map(([bar]) => ({
        file,
        bar,
      })),
    );
  expect(bars.length).toBeGreaterThan(5);
  expect(bars.filter(({ bar }) => !/aria-(label|labelledby|hidden)=/.test(bar))).toEqual([]);
});
