import { expect, test } from 'vitest';
import type { Engine } from './engines/engine.ts';
import { migrate } from './migrations.ts';

/** As much of a server as migrations need: the tables of one database, and when the lock was created. */
class FakeServer {
  readonly executed: string[] = [];
  readonly applied: number[] = [];
  lockAgeS: number | null = null;

  engine(): Engine {
    return {
      execute: async (sql: string) => {
        await null;
        if (sql.startsWith('CREATE TABLE schema_migrations_lock')) {
          if (this.lockAgeS !== null) throw new Error('Table schema_migrations_lock already exists');
          this.lockAgeS = 0;
        } else if (sql.startsWith('DROP TABLE IF EXISTS schema_migrations_lock')) this.lockAgeS = null;
        else if (sql.startsWith('INSERT INTO schema_migrations'))
          this.applied.push(Number(/SELECT (\d+)/.exec(sql)?.[1]));
        else if (!sql.includes('CREATE TABLE IF NOT EXISTS schema_migrations')) this.executed.push(sql);
      },
      select: async ({ sql }: { sql: string }) => {
        await null;
        if (sql.includes('system.tables')) return this.lockAgeS === null ? [] : [[this.lockAgeS]];
        return this.applied.map((version) => [version]);
      },
    } as unknown as Engine;
  }
}

test('instances that start at once migrate once', async () => {
  const server = new FakeServer();
  const applied = await Promise.all([1, 2, 3].map(() => migrate(server.engine())));
  expect(applied.filter((versions) => versions.length > 0)).toEqual([server.applied]);
  expect(new Set(server.applied).size).toBe(server.applied.length);
  expect(server.lockAgeS).toBeNull();
  expect(await migrate(server.engine())).toEqual([]);
});

test('the lock of a process that died expires', async () => {
  const server = new FakeServer();
  server.lockAgeS = 3600;
  expect((await migrate(server.engine())).length).toBeGreaterThan(0);
  expect(server.lockAgeS).toBeNull();
});

test('who has the archive alone does not wait for the lock of a process that was killed just now', async () => {
  const server = new FakeServer();
  server.lockAgeS = 1;
  expect((await migrate(server.engine(), true)).length).toBeGreaterThan(0);
  expect(server.lockAgeS).toBeNull();
});
