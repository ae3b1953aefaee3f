import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Kysely, sql } from 'kysely';
import { afterEach, expect, test, vi } from 'vitest';
import { RegistryAwayError } from './errors.ts';
import { postgresDialect } from './postgres.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

/** As PostgreSQL says that a client is let in, and that it may ask. */
const LET_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
const WITHIN_MS = 200;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A server that lets everybody in and then is gone, without a word of it. */
async function serverThatGoes() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(LET_IN);
      socket.resume();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { sockets, url: `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/outrider` };
}

function open(url: string) {
  const db = new Kysely<Record<string, never>>({
    dialect: postgresDialect(url, 'public', () => {}, { answerWithinMs: WITHIN_MS, idleInTransactionMs: 0 }),
  });
  ends.push(() => db.destroy());
  return db;
}

test('a statement that nobody answers fails, and the next goes by another connection', async () => {
  const { sockets, url } = await serverThatGoes();
  const db = open(url);
  for (const connections of [1, 2, 3]) {
    await expect(sql`select 1`.execute(db)).rejects.toThrow(RegistryAwayError);
    expect(sockets.length).toBe(connections);
  }
  await vi.waitFor(() => expect(sockets.every(({ closed }) => closed)).toBe(true), PATIENCE);
});

test('a server that is not there is said to be away', async () => {
  const db = open('postgres://someone@127.0.0.1:1/outrider');
  await expect(sql`select 1`.execute(db)).rejects.toThrow(RegistryAwayError);
});

test('a transaction that nobody answers says so, and not that its connection is gone', async () => {
  const { url } = await serverThatGoes();
  const work = open(url)
    .transaction()
    .execute((tx) => sql`select 1`.execute(tx));
  await expect(work).rejects.toThrow(`did not answer within ${WITHIN_MS} ms`);
});

test('a connection that breaks in the middle of a transaction fails that, not the process', async () => {
  const { sockets, url } = await serverThatGoes();
  const db = open(url);
  const broken = db.connection().execute(async (held) => {
    sockets[0]?.resetAndDestroy();
    // Nobody asks anything by it at the moment that it breaks: another connection takes longer than that.
    await expect(sql`select 1`.execute(db)).rejects.toThrow(RegistryAwayError);
    await sql`select 1`.execute(held);
  });
  await expect(broken).rejects.toThrow();
});
