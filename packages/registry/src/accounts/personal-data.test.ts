import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openTestRegistry } from '../blank-registry.fixture.ts';
import { LEFT_OUT, PERSONAL_SECTIONS } from './personal-data.ts';

/** Columns of each table of the newest schema, named as the code names them. */
async function columnsByTable(): Promise<Map<string, string[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'personal-data-'));
  try {
    const path = join(folder, 'registry.sqlite');
    await (await openTestRegistry({ path })).close();
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(
      "SELECT m.name AS tableName, c.name AS columnName FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
    );
    const tables = new Map<string, string[]>();
    for (const row of rows.all()) {
      const [table = '', column = ''] = [row.tableName, row.columnName].map((name) => camelCase(String(name)));
      tables.set(table, [...(tables.get(table) ?? []), column]);
    }
    database.close();
    return tables;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const camelCase = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

test('each column about a person is exported, or left out by name', async () => {
  const columns = await columnsByTable();
  for (const { name, table, fields, leftOut = [] } of PERSONAL_SECTIONS) {
    const all = columns.get(table) ?? [];
    expect(all.length, `columns of ${table}`).toBeGreaterThan(0);
    const named = new Set([...fields, ...leftOut]);
    expect(
      all.filter((column) => !named.has(column) && !LEFT_OUT.has(column)),
      `neither exported in ${name} nor left out`,
    ).toEqual([]);
    // A column that was dropped is named no more, and none is both.
    expect(
      [...named].filter((column) => !all.includes(column)),
      `unknown in ${name}`,
    ).toEqual([]);
    expect(
      fields.filter((column) => leftOut.includes(column)),
      `both in ${name}`,
    ).toEqual([]);
  }
});
