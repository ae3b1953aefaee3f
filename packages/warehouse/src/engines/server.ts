import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { blocksChunks } from '../native/block.ts';
import {
  BusyError,
  type Engine,
  FILE_SETTINGS,
  type FileRows,
  INSERT_SETTINGS,
  limitError,
  limitedSql,
  type Parameter,
  type Statement,
  structureOf,
  WarehouseAwayError,
} from './engine.ts';
import { QueryPlaces } from './query-places.ts';

export interface ServerAddress {
  /** Such as `http://clickhouse:8123`. */
  url: string;
  username?: string;
  password?: string;
  /** Created if it does not exist. Default `outrider`. */
  database?: string;
  /** Time limit of an insert in milliseconds. Default 30,000. */
  insertWithinMs?: number;
  /** Time limit of opening the database in milliseconds. Default 15,000. */
  openWithinMs?: number;
}

/** Maximum number of concurrent queries of this process, by queue; inserts and files have additional connections. */
const QUICK_AT_ONCE = 8;
const REPORTS_AT_ONCE = 4;
const OPEN_CONNECTIONS = 24;
const MAX_WAITING_QUICK = 1000;
const MAX_WAITING_REPORTS = 64;
/** Response timeout of a server: longer than any query may run. */
const REQUEST_TIMEOUT_MS = 120_000;
/** An insert without a response for this long is cancelled and retried; duplicate rows are merged. */
const INSERT_WITHIN_MS = 30_000;
/**
 * Limit for opening a server that accepts connections but never answers: shorter than that of a query, since the
 * supervisor restarts a service that could not start.
 */
const OPEN_WITHIN_MS = 15_000;
/** Timeout of a ping, which a working server answers at once. */
const PING_WITHIN_MS = 5000;

type Client = ReturnType<typeof createClient>;

/**
 * A ClickHouse server over HTTP.
 *
 * @throws {Error} when the server can't be reached or refuses the user, or when the database's name is no plain name
 */
export async function openServer({
  url,
  username,
  password,
  database = 'outrider',
  insertWithinMs = INSERT_WITHIN_MS,
  openWithinMs = OPEN_WITHIN_MS,
}: ServerAddress): Promise<Engine> {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(database))
    throw new Error(`${JSON.stringify(database)} is no name of a database`);
  // The client logs every failure to the console as well as throwing it; logging is left to the caller.
  const log = { level: ClickHouseLogLevel.OFF };
  const account = { url, username, password, log, request_timeout: REQUEST_TIMEOUT_MS };
  const server = createClient(account);
  try {
    await server.command({
      query: `CREATE DATABASE IF NOT EXISTS ${database}`,
      abort_signal: AbortSignal.timeout(openWithinMs),
    });
  } finally {
    await server.close();
  }
  const client = createClient({ ...account, database, max_open_connections: OPEN_CONNECTIONS });
  const places = (count: number) => Array.from({ length: count }, () => null);
  const queues = {
    quick: new QueryPlaces(places(QUICK_AT_ONCE), MAX_WAITING_QUICK),
    report: new QueryPlaces(places(REPORTS_AT_ONCE), MAX_WAITING_REPORTS),
  };
  await dropForgotten(client, database);

  return {
    async insert(table, ...blocks) {
      const block = blocks.find(({ rows }) => rows > 0);
      if (block === undefined) return;
      const names = block.columns.map((column) => `\`${column.name}\``).join(', ');
      const { stream } = await client.exec({
        query: `INSERT INTO ${table} (${names}) FORMAT Native`,
        values: Readable.from(blocksChunks(blocks), { objectMode: false }),
        // The server sends its response only when all rows are inserted, so that a later failure can't follow a 200.
        clickhouse_settings: { ...INSERT_SETTINGS, async_insert: 0, wait_end_of_query: 1 },
        abort_signal: AbortSignal.timeout(insertWithinMs),
      });
      await stream.resume().toArray();
    },

    select: (statement) => select(client, queues[statement.queue ?? 'quick'], statement),
    file: (rows) => file(client, rows),

    async execute(sql) {
      await client.command({ query: sql });
    },

    async ping() {
      const result = await client.ping({ select: true, abort_signal: AbortSignal.timeout(PING_WITHIN_MS) });
      if (!result.success) throw result.error;
    },

    close: () => client.close(),
  };
}

async function select(client: Client, places: QueryPlaces<null>, statement: Statement): Promise<unknown[][]> {
  const { signal } = statement;
  signal?.throwIfAborted();
  const name = randomUUID();
  const kill = () => {
    // A server continues a query whose client has disconnected. A query that can't be killed ends by its time limit.
    const query = `KILL QUERY WHERE query_id = '${name}' ASYNC`;
    client.command({ query }).catch(() => {});
  };
  signal?.addEventListener('abort', kill);
  const work = async () => {
    const { sql, parameters } = inFields(statement);
    const result = await client.query({
      query: limitedSql({ ...statement, sql }),
      query_params: parameters,
      // Parameters such as a thousand vehicles are too long for a URL, and are then sent in the body.
      use_multipart_params_auto: true,
      query_id: name,
      format: 'JSONCompact',
      // The server sends only complete responses: a failure after the first bytes would be a broken connection without
      // a reason.
      clickhouse_settings: { wait_end_of_query: 1 },
      ...(signal && { abort_signal: signal }),
    });
    const { data } = (await result.json()) as { data: unknown[][] };
    return data;
  };
  try {
    return await places.take(work, statement);
  } catch (error) {
    signal?.throwIfAborted();
    // The client takes the name of the error out of its message.
    if (error instanceof BusyError) throw error;
    throw error instanceof ClickHouseError ? limitError(error, error.type) : away(error);
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}

/**
 * Maximum number of values in one form field: a server takes 128 KiB (`http_max_field_value_size`). UUIDs of 39 bytes
 * are the longest.
 */
const MAX_FIELD_VALUES = 2000;

/** The statement with each long list split into several parameters. */
function inFields({ sql, parameters }: Statement): { sql: string; parameters: Record<string, Parameter> } {
  const fields: Record<string, Parameter> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value !== 'object' || value.length <= MAX_FIELD_VALUES) {
      fields[name] = value;
      continue;
    }
    const pieces: string[] = [];
    for (let at = 0; at < value.length; at += MAX_FIELD_VALUES) {
      const piece = `${name}_${pieces.length}`;
      fields[piece] = value.slice(at, at + MAX_FIELD_VALUES) as Parameter;
      pieces.push(piece);
    }
    sql = sql.replaceAll(
      new RegExp(`\\{${name}:(Array\\(\\w+\\))\\}`, 'g'),
      (_, type) => `arrayConcat(${pieces.map((piece) => `{${piece}:${type}}`).join(', ')})`,
    );
  }
  return { sql, parameters: fields };
}

/** Errors that are not ClickHouse's own are connection errors. */
function away(error: unknown): WarehouseAwayError {
  const { message } = error as Error;
  return new WarehouseAwayError(`ClickHouse does not answer: ${message}`, { cause: error });
}

/** Prefix of temporary tables that hold the rows of one file while it is written. */
const SET_ASIDE = 'set_aside_';

async function* file(client: Client, { format, columns, lines, signal }: FileRows): AsyncGenerator<Uint8Array> {
  const table = `${SET_ASIDE}${randomUUID().replaceAll('-', '')}`;
  const settings = { ...FILE_SETTINGS, wait_end_of_query: 0 } as const;
  const source = new Source(lines);
  try {
    await client.command({
      query: `CREATE TABLE ${table} (row_number UInt64, ${structureOf(columns)}) ENGINE = MergeTree ORDER BY row_number`,
    });
    const { stream: inserted } = await client.exec({
      query: `INSERT INTO ${table} FORMAT JSONCompactEachRow`,
      values: Readable.from(source.numbered(), { objectMode: false }),
      clickhouse_settings: { ...FILE_SETTINGS, async_insert: 0, wait_end_of_query: 1 },
      ...(signal && { abort_signal: signal }),
    });
    await inserted.resume().toArray();
    const { stream } = await client.exec({
      query: `SELECT * EXCEPT row_number FROM ${table} ORDER BY row_number FORMAT ${format}`,
      clickhouse_settings: settings,
      ...(signal && { abort_signal: signal }),
    });
    for await (const chunk of stream) {
      signal?.throwIfAborted();
      yield chunk as Buffer;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (source.failure) throw source.failure.error;
    throw error instanceof ClickHouseError ? error : away(error);
  } finally {
    // If it can't be dropped now, a starting process will drop it.
    await client.command({ query: `DROP TABLE IF EXISTS ${table}` }).catch(() => {});
  }
}

/** Drops temporary tables of crashed processes: writing a file takes less than a day. */
async function dropForgotten(client: Client, database: string): Promise<void> {
  const result = await client.query({
    query: `SELECT name FROM system.tables WHERE database = {database:String} AND startsWith(name, '${SET_ASIDE}')
      AND metadata_modification_time < now() - INTERVAL 1 DAY`,
    query_params: { database },
    format: 'JSONCompact',
  });
  const { data } = (await result.json()) as { data: [string][] };
  for (const [name] of data) await client.command({ query: `DROP TABLE IF EXISTS \`${name}\`` });
}

/** Lines of rows to be inserted into a table. */
class Source {
  readonly #lines: AsyncIterable<string>;
  /** Error of the source of the lines, as opposed to one of the table. */
  failure: { error: unknown } | null = null;

  constructor(lines: AsyncIterable<string>) {
    this.#lines = lines;
  }

  /** Lines with their number as the first column. */
  async *numbered(): AsyncGenerator<string> {
    let number = 0;
    try {
      for await (const text of this.#lines) {
        let out = '';
        for (const line of text.split('\n')) if (line !== '') out += `[${number++},${line.slice(1)}\n`;
        yield out;
      }
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}
