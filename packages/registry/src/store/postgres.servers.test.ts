import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { expect, test } from 'vitest';
import { SUITES } from '../conformance.fixture.ts';
import { openRegistry } from '../index.ts';
import { onPostgres } from './postgres.fixture.ts';
import { postgresDialect } from './postgres.ts';
import { quotasConformance } from './quotas.conformance.ts';
import { secretsConformance } from './secrets.conformance.ts';

onPostgres(({ url, newPlace }) => {
  secretsConformance('PostgreSQL', async () => {
    const schema = `registry_${randomBytes(6).toString('hex')}`;
    const using = async (statement: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
      await client.connect();
      try {
        return (await client.query(statement)).rows;
      } finally {
        await client.end();
      }
    };
    return {
      open: (secrets, onSecrets, forgetLostSecrets = false) =>
        openRegistry({ url, schema, forgetLostSecrets, ...(secrets && { secrets }), ...(onSecrets && { onSecrets }) }),
      dump: async (table) => JSON.stringify(await using(`select * from ${table}`)),
      execute: async (statement) => void (await using(statement)),
      remove: async () => void (await using(`drop schema ${schema} cascade`)),
    };
  });
  test('instances that open a new schema at once migrate it once', async () => {
    const schema = `registry_${randomBytes(6).toString('hex')}`;
    const registries = await Promise.all(Array.from({ length: 4 }, () => openRegistry({ url, schema })));
    await Promise.all(registries.map((registry) => registry.close()));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(`select count(*)::int as rows, count(distinct name)::int as names
      from ${schema}.kysely_migration`);
    expect(rows[0].names).toBeGreaterThan(15);
    expect(rows[0].rows).toBe(rows[0].names);
    await client.query(`drop schema ${schema} cascade`);
    await client.end();
  });
  test('a writer that is gone without a word does not keep the others waiting', async () => {
    const name = `lock_${randomBytes(4).toString('hex')}`;
    const open = (to: string) => {
      const patience = { answerWithinMs: 30_000, idleInTransactionMs: 300 };
      return new Kysely<Record<string, never>>({ dialect: postgresDialect(to, 'public', () => {}, patience) });
    };
    const lock = (tx: Kysely<Record<string, never>>) =>
      sql`select pg_advisory_xact_lock(hashtext(${name}))`.execute(tx);
    const way = await openWay(url);
    const [gone, other] = [open(way.url), open(url)];
    try {
      let begun = () => {};
      const holds = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const held = gone.transaction().execute(async (tx) => {
        await lock(tx);
        // From here on the server receives nothing of it, not even its end.
        way.silence();
        begun();
        await new Promise((resolve) => setTimeout(resolve, 1000));
        await sql`select 1`.execute(tx);
      });
      held.catch(() => {});
      await holds;
      await other.transaction().execute(lock);
      way.end();
      await expect(held).rejects.toThrow();
    } finally {
      way.end();
      await Promise.all([gone.destroy(), other.destroy()]);
    }
  });

  for (const suite of SUITES.store) suite('PostgreSQL', newPlace);
  quotasConformance('PostgreSQL', async () => {
    const place = await newPlace();
    return { open: (quotas) => openRegistry({ url: place.url, quotas }), isShared: true, remove: place.remove };
  });
});

test('a schema name that would need quoting is refused', async () => {
  await expect(openRegistry({ url: 'postgres://localhost:1/none', schema: 'a"; drop' })).rejects.toThrow('schema name');
});

/** A proxy to the server that can go silent: it drops all bytes, and neither end is notified. */
async function openWay(to: string) {
  const target = new URL(to);
  const ends: (() => void)[] = [];
  let silent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (chunk) => {
        if (!silent) into.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (!silent) into.destroy();
      });
      ends.push(() => from.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    silence: () => {
      silent = true;
    },
    end: () => {
      server.close();
      for (const end of ends) end();
    },
  };
}
