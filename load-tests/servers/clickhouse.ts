import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { clickhouseCommand } from '@outrider/warehouse/clickhouse-server';
import { type Server, startServer } from './server.ts';

/** ClickHouse's own HTTP server, from the library that npm's chdb brings. Its one account has a password. */
export async function startClickhouse(folder: string, port?: number): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const at = port ?? (await reservePort());
  const { command, args, url } = clickhouseCommand(folder, at);
  return startServer(
    'ClickHouse',
    at,
    { CLICKHOUSE_URL: url },
    { command, args, logPath: join(folder, 'clickhouse.log') },
  );
}
