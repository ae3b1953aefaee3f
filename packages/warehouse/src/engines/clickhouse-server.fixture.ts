import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reservePort } from '@outrider/testing/port';

const PROGRAM = join(import.meta.dirname, 'clickhouse-process.fixture.ts');
const START_TIMEOUT_MS = 60_000;

/** The account of a server that tests start. */
export interface ClickhouseAccount {
  user: string;
  password: string;
}
/** Parts of the server's configuration that a test needs beside its own, as XML. */
export interface ClickhouseExtras {
  profiles?: string;
  users?: string;
}
const ACCOUNT: ClickhouseAccount = { user: 'outrider', password: 'outrider' };

/**
 * The command of ClickHouse's own HTTP server, as chDB's library brings it: one account, 127.0.0.1 only. It ends in
 * order by SIGTERM, when running queries are answered.
 *
 * @param folder for its configuration and its data; made where it is missing
 */
export function clickhouseCommand(
  folder: string,
  port: number,
  account: ClickhouseAccount = ACCOUNT,
  extras: ClickhouseExtras = {},
): { command: string; args: string[]; url: string } {
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'config.xml');
  writeFileSync(configFile, configuration(configFile, port, account, extras), { mode: 0o600 });
  return {
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', PROGRAM, configFile, join(folder, 'data')],
    url: `http://${account.user}:${account.password}@127.0.0.1:${port}`,
  };
}

/** The library authenticates itself as `default`, which can't have a password for that reason. */
function configuration(
  file: string,
  port: number,
  { user, password }: ClickhouseAccount,
  { profiles = '', users = '' }: ClickhouseExtras,
): string {
  const withPassword = (secret: string) =>
    `<password>${secret}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>`;
  return `<clickhouse>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${port}</http_port>
  <users_config>${file}</users_config>
  <profiles><default/>${profiles}</profiles>
  <quotas><default/></quotas>
  <users>
    <default>${withPassword('')}</default>
    <${user}>${withPassword(password)}</${user}>
    ${users}
  </users>
</clickhouse>
`;
}

/**
 * Starts a server on a free port. It resolves when the server answers.
 *
 * @throws {Error} with the server's output when it ends before
 */
export async function startClickhouseServer(
  folder: string,
  extras: ClickhouseExtras = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const { command, args, url } = clickhouseCommand(folder, await reservePort(), ACCOUNT, extras);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const ended = once(child, 'exit');
  const { origin } = new URL(url);
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (!(await isServing(origin))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ClickHouse did not start: ${output}`);
    if (performance.now() > untilMs) {
      child.kill('SIGKILL');
      throw new Error(`ClickHouse did not start within ${START_TIMEOUT_MS / 1000} s: ${output}`);
    }
    await delay(50);
  }
  return {
    url,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** The version of ClickHouse in the library, such as `26.7.2.1`. */
export async function clickhouseVersion(): Promise<string> {
  const { version } = await import('chdb');
  return version().libchdb.replaceAll('"', '');
}

async function isServing(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/ping`, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false;
  }
}
