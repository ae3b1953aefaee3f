import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Server, startServer } from './server.ts';

/** ClickHouse's engine behind its HTTP interface: no server package is to be had from where the others come. */
export async function startClickhouse(folder: string, port?: number): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const at = port ?? (await freePort());
  return startServer(
    'ClickHouse',
    at,
    { CLICKHOUSE_URL: `http://127.0.0.1:${at}` },
    {
      command: process.execPath,
      args: [join(import.meta.dirname, 'clickhouse-process.ts'), folder, String(at)],
      logPath: join(folder, 'clickhouse.log'),
    },
  );
}
