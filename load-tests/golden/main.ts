import { execFileSync, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dataDirFigures } from '../../services/outrider/src/data-dir-figures.fixture.ts';
import { fingerprints } from '../../services/outrider/src/fingerprints.fixture.ts';
import { portVariables, reservedPorts } from '../../services/outrider/src/service.fixture.ts';
import { dumpServers } from './servers.ts';
import { setVersion } from './set-version.ts';

const DEMO_SECONDS = 60;
const ROOT = join(import.meta.dirname, '../..');

/**
 * `npm run golden:release -- v0.2.0`: sets the version of the project, and writes `schemas/history/v0.2.0/`: a
 * `DATA_DIR` of the demo that was killed, dumps of PostgreSQL and ClickHouse, what the release itself reports of each,
 * and the fingerprints of all schemas. With `--fingerprints`, only these; with `--into <folder>`, only the data,
 * elsewhere.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { fingerprints: { type: 'boolean' }, into: { type: 'string' } },
});
const [release = ''] = positionals;
if (!/^v\d+\.\d+\.\d+$/.test(release)) throw new Error('usage: npm run golden:release -- v<version>');
const folder = values.into ?? join(ROOT, 'schemas/history', release);
mkdirSync(folder, { recursive: true });
const write = (name: string, content: unknown) =>
  writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`);

if (!values.fingerprints && values.into === undefined) setVersion(ROOT, release.slice(1));
write('fingerprints.json', await fingerprints());
if (!values.fingerprints) {
  await dumpDataDir();
  await dumpServers(folder);
}
console.log(`${folder} is written`);

async function dumpDataDir(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'outrider-golden-'));
  const archive = join(folder, 'data-dir.tgz');
  const fromMs = Date.now();
  let password: string;
  try {
    const child = spawn(process.execPath, [join(ROOT, 'services/outrider/src/main.ts'), 'demo'], {
      env: {
        PATH: process.env.PATH,
        DATA_DIR: data,
        HOST: '127.0.0.1',
        // Only then is the login printed.
        LOG_FORMAT: 'text',
        DEMO_HISTORY_DAYS: '0',
        ...portVariables(await reservedPorts()),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    password = await demoPassword(child.stdout);
    await wait(DEMO_SECONDS * 1000);
    child.kill('SIGKILL');
    await exited;
    rmSync(archive, { force: true });
    execFileSync('tar', ['-C', data, '-czf', archive, '.']);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
  if (!existsSync(archive)) throw new Error('no data was written');
  const range = {
    from: new Date(fromMs - 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
  };
  write('data-dir.json', { ...range, password, ...(await dataDirFigures(archive, password, range)) });
}

/** As the demo prints it, once its fleet drives. */
async function demoPassword(output: Readable): Promise<string> {
  for await (const [line] of on(createInterface(output), 'line', { close: ['close'] }) as AsyncIterable<[string]>) {
    const password = /demo login +demo \/ (\S+)/.exec(line)?.[1];
    if (password !== undefined) return password;
  }
  throw new Error('the demo ended without a login');
}
