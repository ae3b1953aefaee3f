import { PostgresDialect } from 'kysely';
import pg from 'pg';

const MAX_CONNECTIONS = 10;
const INT8 = pg.types.builtins.INT8;

/**
 * Kysely over a pool of connections to a PostgreSQL server. 64-bit integers come as numbers: times in milliseconds and
 * sequence numbers stay far below 2^53.
 *
 * @param schema where the tables are: becomes the search path of every connection
 * @param onIdleError told of a connection that broke while nobody used it; the pool replaces it
 */
export function postgresDialect(url: string, schema: string, onIdleError: (error: Error) => void): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    options: `-c search_path=${schema}`,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  });
  pool.on('error', onIdleError);
  return new PostgresDialect({ pool });
}
