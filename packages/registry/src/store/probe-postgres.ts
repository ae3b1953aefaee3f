const WITHIN_MS = 5000;

/**
 * Queries version and clock of a PostgreSQL server, and changes nothing.
 *
 * @returns its version, and its clock in Unix milliseconds
 * @throws {Error} when it can't be reached, or refuses the account or the database
 */
export async function probePostgres(url: string): Promise<{ version: string; clockMs: number }> {
  // Loaded only here: an embedded service needs no client.
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: WITHIN_MS, query_timeout: WITHIN_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string; clock: string }>(
      "SELECT current_setting('server_version') AS version, extract(epoch FROM clock_timestamp()) * 1000 AS clock",
    );
    return { version: String(rows[0]?.version), clockMs: Number(rows[0]?.clock) };
  } finally {
    await client.end();
  }
}
