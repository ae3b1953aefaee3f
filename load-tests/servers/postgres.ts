import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { run, type Security, type Server, startServer } from './server.ts';

const DEBIAN_FOLDER = '/usr/lib/postgresql';
const DATABASE = 'outrider';

/**
 * PostgreSQL, its cluster made where the folder has none. It refuses to run as root: then it runs as the user
 * `postgres`.
 */
export async function startPostgres(folder: string, port?: number, security: Security | null = null): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const asRoot = process.getuid?.() === 0;
  const as = (command: string, args: readonly string[]) =>
    asRoot
      ? { command: 'setpriv', args: ['--reuid=postgres', '--regid=postgres', '--clear-groups', command, ...args] }
      : { command, args };
  if (asRoot) {
    chmodSync(folder, 0o777);
  }
  const data = join(folder, 'cluster');
  const isNew = !existsSync(join(data, 'PG_VERSION'));
  if (isNew) {
    const init = as(postgresBinary('initdb'), [
      '-D',
      data,
      '-U',
      'postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--no-sync',
    ]);
    await run(init.command, init.args, { cwd: folder });
    if (security !== null) askForPassword(join(data, 'pg_hba.conf'), security.user);
  }
  const at = port ?? (await reservePort());
  const settings = [
    '-p',
    String(at),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'max_connections=300',
  ];
  if (security !== null) settings.push(...(await secureSettings(folder, security, asRoot)));
  const server = await startServer(
    'PostgreSQL',
    at,
    { DATABASE_URL: `postgres://postgres@127.0.0.1:${at}/${DATABASE}` },
    {
      ...as(postgresBinary('postgres'), ['-D', data, ...settings]),
      logPath: join(folder, 'postgres.log'),
      // By SIGTERM it would wait for its clients to go, who stay.
      stopSignal: 'SIGINT',
    },
    security && {
      DATABASE_URL: `postgres://${security.user}:${security.password}@localhost:${at}/${DATABASE}?sslmode=verify-full`,
    },
  );
  if (isNew) {
    await untilCreated(at);
    if (security !== null) {
      const role = `create role ${security.user} superuser login password '${security.password}'`;
      await run(postgresBinary('psql'), ['-h', '127.0.0.1', '-p', String(at), '-U', 'postgres', '-c', role, DATABASE]);
    }
  }
  return server;
}

/** The account gets in over TLS and with its password alone. */
function askForPassword(rulesFile: string, user: string): void {
  const rules = [`hostssl all ${user} all scram-sha-256`, `host all ${user} all reject`];
  writeFileSync(rulesFile, `${rules.join('\n')}\n${readFileSync(rulesFile, 'utf8')}`);
}

/** It takes a key only from a file that its own user alone can read. */
async function secureSettings(folder: string, security: Security, asRoot: boolean): Promise<string[]> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  copyFileSync(security.keyFile, key);
  copyFileSync(security.certificateFile, certificate);
  chmodSync(key, 0o600);
  if (asRoot) await run('chown', ['postgres', key, certificate]);
  return ['-c', 'ssl=on', '-c', `ssl_key_file=${key}`, '-c', `ssl_cert_file=${certificate}`];
}

/** The port is open a moment before the server takes commands. */
async function untilCreated(port: number): Promise<void> {
  const create = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', DATABASE];
  for (let attempt = 0; ; attempt++) {
    try {
      await run(postgresBinary('createdb'), create);
      return;
    } catch (error) {
      if (attempt === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** Debian keeps the server's commands out of the path, by version. */
export function postgresBinary(name: string): string {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(DEBIAN_FOLDER, version, 'bin', name)).find((path) => existsSync(path));
  return found ?? name;
}
