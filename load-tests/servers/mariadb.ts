import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { run, type Server, startServer } from './server.ts';

/** Debian installs it where only administrators have it in their path. */
export const MARIADB = existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd';

/** MariaDB with an empty database `traccar`, by `MYSQL_URL`. */
export async function startMariadb(folder: string): Promise<Server> {
  const data = join(folder, 'data');
  mkdirSync(folder, { recursive: true });
  const user = process.getuid?.() === 0 ? ['--user=root'] : [];
  const install = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  await run('mariadb-install-db', [...install, ...user]);
  const port = await reservePort();
  const socket = join(folder, 'socket');
  const args = [
    '--no-defaults',
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${socket}`,
  ];
  const url = `mysql://root@127.0.0.1:${port}/traccar`;
  const server = await startServer(
    'MariaDB',
    port,
    { MYSQL_URL: url },
    { command: MARIADB, args: [...args, ...user], logPath: join(folder, 'mariadb.log') },
  );
  await run('mariadb', ['--no-defaults', `--socket=${socket}`, '-u', 'root', '-e', 'create database traccar']);
  return server;
}
