import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openRegistry } from '../index.ts';
import type { Place } from '../test-registry.fixture.ts';
import type { LeasesPlace } from '../work/leases.conformance.ts';
import { WRITERS_LOCK } from './store.ts';

/** A server for tests, and databases on it, which are migrated and empty. */
export interface PostgresServer {
  url: string;
  newPlace(): Promise<Place & LeasesPlace & { url: string }>;
}

/** Defines tests on the server of `DATABASE_URL`; without one they are skipped. */
export function onPostgres(define: (server: PostgresServer) => void): void {
  const url = process.env.DATABASE_URL;
  if (!url) {
    describe.skip('registry on PostgreSQL, which DATABASE_URL turns on', () => test('skipped', () => {}));
    return;
  }
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
    // Its files are copied, which is quicker than to write every page of them to the log of the server.
    const database = await newDatabase(`template ${migrated} strategy file_copy`);
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
  define({ url, newPlace });
}
