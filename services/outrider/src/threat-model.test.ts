import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const text = readFileSync(join(ROOT, 'docs/security/threat-model.md'), 'utf8');
const promises = text.slice(text.indexOf('## Promises and their tests'), text.indexOf('## Out of scope'));

test('every promise of the threat model names tests that exist', () => {
  const rows = promises.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| threat'));
  expect(rows.length).toBeGreaterThan(25);
  for (const row of rows) {
    const files = [...row.matchAll(/`([\w./-]+\.(?:test|conformance)\.ts)`/g)].map(([, file = '']) => file);
    expect([row, files.length > 0]).toEqual([row, true]);
    for (const file of files) expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
  }
});
