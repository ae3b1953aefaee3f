import { Readable } from 'node:stream';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { blockChunks } from '../native/block.ts';
import { type Engine, INSERT_SETTINGS, limitedSql } from './engine.ts';

export interface ServerAddress {
  /** Such as `http://clickhouse:8123`. */
  url: string;
  username?: string;
  password?: string;
  /** Created where it is missing. Default `outrider`. */
  database?: string;
}

/** How long a server may take to answer: longer than any query may run. */
const REQUEST_TIMEOUT_MS = 120_000;

/**
 * A ClickHouse server over HTTP.
 *
 * @throws {Error} when the server can't be reached or refuses the user, or when the database's name is no plain name
 */
export async function openServer({ url, username, password, database = 'outrider' }: ServerAddress): Promise<Engine> {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(database))
    throw new Error(`${JSON.stringify(database)} is no name of a database`);
  // The client writes every failure to the console as well as throwing it: whoever asked says what is to be said.
  const log = { level: ClickHouseLogLevel.OFF };
  const account = { url, username, password, log, request_timeout: REQUEST_TIMEOUT_MS };
  const server = createClient(account);
  try {
    await server.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  } finally {
    await server.close();
  }
  const client = createClient({ ...account, database });

  return {
    async insert(table, block) {
      if (block.rows === 0) return;
      const names = block.columns.map((column) => `\`${column.name}\``).join(', ');
      const { stream } = await client.exec({
        query: `INSERT INTO ${table} (${names}) FORMAT Native`,
        values: Readable.from(blockChunks(block), { objectMode: false }),
        // The answer is held until the rows are in, so that a failure halfway can't come after a 200.
        clickhouse_settings: { ...INSERT_SETTINGS, async_insert: 0, wait_end_of_query: 1 },
      });
      await stream.resume().toArray();
    },

    async select(statement) {
      const result = await client.query({
        query: limitedSql(statement),
        query_params: { ...statement.parameters },
        format: 'JSONCompact',
      });
      const { data } = (await result.json()) as { data: unknown[][] };
      return data;
    },

    async execute(sql) {
      await client.command({ query: sql });
    },

    async ping() {
      const result = await client.ping({ select: true });
      if (!result.success) throw result.error;
    },

    close: () => client.close(),
  };
}
