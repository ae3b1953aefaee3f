import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openDatabase } from './sqlite.ts';

test('processes that open a new file at once migrate it once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'registry-'));
  const path = join(folder, 'registry.sqlite');
  const script = `
    import { openRegistry } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)};
    await (await openRegistry({ path: ${JSON.stringify(path)} })).close();`;
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  await Promise.all(Array.from({ length: 4 }, run));
  const database = openDatabase(path);
  const names = database
    .prepare('select name from kysely_migration order by name')
    .all()
    .map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  expect(names[0]).toBe('0001-definitions');
  database.close();
  await rm(folder, { recursive: true });
});
