import { createHash } from 'node:crypto';
import type { Engine } from './engines/engine.ts';
import { migrate } from './migrations.ts';

/** A hash of the statements about each table and view of the archive, in their order. No server is asked. */
export async function clickhouseFingerprints(): Promise<Record<string, string>> {
  const statements: string[] = [];
  const engine: Pick<Engine, 'execute' | 'select'> = {
    execute: async (sql) => void statements.push(sql),
    select: async () => [],
  };
  await migrate(engine as Engine);
  const tables = new Map<string, string[]>();
  for (const sql of statements) {
    const table = /(?:TABLE|VIEW)(?: IF (?:NOT )?EXISTS)? (\w+)/.exec(sql)?.[1];
    if (table === undefined || table.startsWith('schema_migrations')) continue;
    tables.set(table, [...(tables.get(table) ?? []), sql]);
  }
  const hashOf = (texts: readonly string[]) => createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16);
  return Object.fromEntries([...tables].map(([table, texts]) => [table, hashOf(texts)]));
}
