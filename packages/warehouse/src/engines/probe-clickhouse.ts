const WITHIN_MS = 5000;

/**
 * Queries the version and clock of a ClickHouse server, and changes nothing.
 *
 * @returns its version, and its clock in Unix milliseconds
 * @throws {Error} when it can't be reached or refuses the account
 */
export async function probeClickHouse(url: string): Promise<{ version: string; clockMs: number }> {
  // Loaded here: an embedded service uses no server.
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  const client = createClient({ url, log: { level: ClickHouseLogLevel.OFF }, request_timeout: WITHIN_MS });
  try {
    const query = 'SELECT version() AS version, toUnixTimestamp64Milli(now64(3)) AS clock';
    const [row] = await (await client.query({ query, format: 'JSONEachRow' })).json<{
      version: string;
      clock: string | number;
    }>();
    return { version: String(row?.version), clockMs: Number(row?.clock) };
  } finally {
    await client.close();
  }
}
