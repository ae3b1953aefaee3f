import { SYSTEM_CLOCK } from '@outrider/domain';
import { PostgresDialect } from 'kysely';
import pg from 'pg';
import { RegistryAwayError } from './errors.ts';
import { IDLE_IN_TRANSACTION_MS } from './idle-in-transaction.ts';

const MAX_CONNECTIONS = 10;
const INT8 = pg.types.builtins.INT8;
/** Limit for connecting, and for waiting for a free connection of the pool. */
const CONNECT_WITHIN_MS = 10_000;
/** A server that does not answer a statement within this time counts as unavailable. */
const ANSWER_WITHIN_MS = 30_000;
/** Statements that change tables have no time limit: they take longer for large tables. */
const CHANGES_TABLES = /^\s*(create|alter|drop)\b/i;

/**
 * Classes of errors (https://www.postgresql.org/docs/current/errcodes-appendix.html) by which a server reports that it
 * is unavailable: connection exceptions, insufficient resources, operator intervention, and the time limit of idle
 * transactions.
 */
const NOT_TO_BE_HAD = /^(08...|53...|57P..|25P03)$/;

/** How long each side waits for the other, in milliseconds. */
export interface Patience {
  answerWithinMs: number;
  idleInTransactionMs: number;
}

const PATIENCE: Patience = { answerWithinMs: ANSWER_WITHIN_MS, idleInTransactionMs: IDLE_IN_TRANSACTION_MS };

/** Errors other than the server's own answer to a statement come from the connection: the server is unavailable. */
function orAway(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && !NOT_TO_BE_HAD.test(error.code ?? '')) return error;
  if (error instanceof RegistryAwayError) return error;
  return new RegistryAwayError((error as Error).message, { cause: error });
}

/**
 * Kysely over a pool of connections to a PostgreSQL server. 64-bit integers are returned as numbers: times in
 * milliseconds and sequence numbers stay far below 2^53.
 *
 * A connection on which a statement gets no answer in time is closed, and its statement fails. Otherwise a connection
 * that the server no longer knows would be waited for as long as the process lives. Likewise, the server ends a
 * transaction in which it receives nothing.
 *
 * Statements that fail because the server is unavailable throw a {@link RegistryAwayError}.
 *
 * @param schema where the tables are: becomes the search path of every connection
 * @param onIdleError called when a connection broke while it was idle; the pool replaces it
 */
export function postgresDialect(
  url: string,
  schema: string,
  onIdleError: (error: Error) => void,
  { answerWithinMs, idleInTransactionMs }: Patience = PATIENCE,
): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
    options: `-c search_path=${schema} -c idle_in_transaction_session_timeout=${idleInTransactionMs}`,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  });
  pool.on('error', onIdleError);
  pool.on('connect', (client) => {
    // A connection that breaks while in use makes its current or next statement fail.
    client.on('error', () => {});
    endUnanswered(client, answerWithinMs);
  });
  const connect = async () => {
    try {
      return await pool.connect();
    } catch (error) {
      throw orAway(error);
    }
  };
  return new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } });
}

/** Fields that the types of the library lack. */
interface WithConnection {
  connection: { stream: { destroy(error: Error): void } };
}

function endUnanswered(client: pg.ClientBase, withinMs: number): void {
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const { connection } = client as unknown as WithConnection;
  let gone: RegistryAwayError | null = null;
  const watched = (...args: unknown[]) => {
    // Reports the reason, instead of only that the connection is closed.
    if (gone !== null && typeof args.at(-1) !== 'function') return Promise.reject(gone);
    const answer = query(...args);
    if (!(answer instanceof Promise)) return answer;
    const answered = answer.catch((error) => {
      throw orAway(error);
    });
    if (CHANGES_TABLES.test(textOf(args[0]))) return answered;
    const timer = SYSTEM_CLOCK.after(withinMs, () => {
      gone = new RegistryAwayError(`PostgreSQL did not answer within ${withinMs} ms`);
      connection.stream.destroy(gone);
    });
    return answered.finally(() => timer.cancel());
  };
  Object.assign(client, { query: watched });
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  return statement !== null && typeof statement === 'object' && 'text' in statement ? String(statement.text) : '';
}
