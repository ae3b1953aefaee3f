import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiKeysConformance } from '../accounts/api-keys.conformance.ts';
import { erasuresConformance } from '../accounts/erasures.conformance.ts';
import { mailAddressesConformance } from '../accounts/mail-addresses.conformance.ts';
import { personalDataConformance } from '../accounts/personal-data.conformance.ts';
import { signInConformance } from '../accounts/sign-in.conformance.ts';
import { auditConformance } from '../audit/audit.conformance.ts';
import { bulkConformance } from '../fleet/bulk.conformance.ts';
import { customFieldsConformance } from '../fleet/custom-fields.conformance.ts';
import { driversConformance } from '../fleet/drivers.conformance.ts';
import { historyLimitsConformance } from '../fleet/history-limits.conformance.ts';
import { maintenanceConformance } from '../fleet/maintenance.conformance.ts';
import { shareLinksConformance } from '../fleet/share-links.conformance.ts';
import { vehicleCommandsConformance } from '../fleet/vehicle-commands.conformance.ts';
import { vehicleMovesConformance } from '../fleet/vehicle-moves.conformance.ts';
import { openRegistry } from '../index.ts';
import { forwardingConformance } from '../notifications/forwarding-destinations.conformance.ts';
import { incidentsConformance } from '../notifications/incidents.conformance.ts';
import { notificationsConformance } from '../notifications/notifications.conformance.ts';
import { registryConformance } from '../registry.conformance.ts';
import { reportsConformance } from '../reports/reports.conformance.ts';
import { videoConformance } from '../video/video.conformance.ts';
import { jobsConformance } from '../work/jobs.conformance.ts';
import { leasesConformance } from '../work/leases.conformance.ts';
import { idempotencyConformance } from './idempotency.conformance.ts';
import { IDLE_IN_TRANSACTION_MS } from './idle-in-transaction.ts';
import { postgresDialect } from './postgres.ts';
import { quotasConformance } from './quotas.conformance.ts';
import { secretsConformance } from './secrets.conformance.ts';
import { WRITERS_LOCK } from './store.ts';

const url = process.env.DATABASE_URL;

if (url) {
  const administer = async (statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const urlOf = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const newDatabase = async (options = '') => {
    const database = `registry_${randomBytes(6).toString('hex')}`;
    await administer(`create database ${database} ${options}`);
    return database;
  };
  /** One that is migrated: the migrations take longer than most tests. */
  let migrated: string;
  beforeAll(async () => {
    migrated = await newDatabase();
    await (await openRegistry({ url: urlOf(migrated) })).close();
  });
  afterAll(() => administer(`drop database ${migrated}`));
  const newPlace = async () => {
    const database = await newDatabase(`template ${migrated}`);
    const place = urlOf(database);
    return {
      url: place,
      open: (now: () => number) => openRegistry({ url: place, now }),
      async whileWriting<T>(work: () => Promise<T>): Promise<T> {
        const writer = new pg.Client({ connectionString: place });
        await writer.connect();
        try {
          await writer.query(`select pg_advisory_lock(${WRITERS_LOCK})`);
          return await work();
        } finally {
          await writer.end();
        }
      },
      remove: () => administer(`drop database ${database}`),
    };
  };
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

  test('a turn lasts as long as its work, however long nothing is asked in it', async () => {
    const place = await newPlace();
    const [one, two] = [await place.open(Date.now), await place.open(Date.now)];
    try {
      let wasOthers = false;
      const took = await one.outbox.inTurn(async () => {
        await new Promise((resolve) => setTimeout(resolve, IDLE_IN_TRANSACTION_MS + 1500));
        wasOthers = (await two.outbox.inTurn(async () => true)) === true;
        return 'done';
      });
      expect({ took, wasOthers }).toEqual({ took: 'done', wasOthers: false });
      expect(await two.outbox.inTurn(async () => 'its turn')).toBe('its turn');
    } finally {
      await Promise.all([one.close(), two.close()]);
      await place.remove();
    }
  });

  test('instances that look for a job at the same time take it once, and none fails', {
    timeout: 60_000,
  }, async () => {
    const place = await newPlace();
    const registries = await Promise.all(Array.from({ length: 4 }, () => place.open(Date.now)));
    try {
      for (let round = 0; round < 100; round++) {
        await registries[0]?.jobs.add({ kind: 'dig', subjectId: 'van', parameters: { round }, dueAtMs: 0 }, () => ({}));
        const leased = await Promise.all(
          registries.map(({ jobs }) => jobs.lease({ kinds: ['dig'], leaseMs: 60_000, atOnce: 1000 })),
        );
        expect(leased.flatMap((each) => each?.job.parameters ?? [])).toEqual([{ round }]);
      }
    } finally {
      await Promise.all(registries.map((registry) => registry.close()));
      await place.remove();
    }
  });

  registryConformance('PostgreSQL', newPlace);
  notificationsConformance('PostgreSQL', newPlace);
  incidentsConformance('PostgreSQL', newPlace);
  mailAddressesConformance('PostgreSQL', newPlace);
  auditConformance('PostgreSQL', newPlace);
  idempotencyConformance('PostgreSQL', newPlace);
  bulkConformance('PostgreSQL', newPlace);
  jobsConformance('PostgreSQL', newPlace);
  leasesConformance('PostgreSQL', newPlace);
  erasuresConformance('PostgreSQL', newPlace);
  historyLimitsConformance('PostgreSQL', newPlace);
  personalDataConformance('PostgreSQL', newPlace);
  videoConformance('PostgreSQL', newPlace);
  shareLinksConformance('PostgreSQL', newPlace);
  apiKeysConformance('PostgreSQL', newPlace);
  forwardingConformance('PostgreSQL', newPlace);
  signInConformance('PostgreSQL', newPlace);
  driversConformance('PostgreSQL', newPlace);
  customFieldsConformance('PostgreSQL', newPlace);
  maintenanceConformance('PostgreSQL', newPlace);
  vehicleMovesConformance('PostgreSQL', newPlace);
  vehicleCommandsConformance('PostgreSQL', newPlace);
  reportsConformance('PostgreSQL', newPlace);
  quotasConformance('PostgreSQL', async () => {
    const { remove, url: place } = await newPlace();
    return { open: (quotas) => openRegistry({ url: place, quotas }), isShared: true, remove };
  });
} else describe.skip('registry on PostgreSQL, which DATABASE_URL turns on', () => test('skipped', () => {}));

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
