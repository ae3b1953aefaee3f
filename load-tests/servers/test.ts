import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCommands, isInPath } from './install.ts';
import { startKafka } from './kafka.ts';
import { postgresBinary, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Server } from './server.ts';

/** What is run on real servers: every adapter's suite, and the services as processes of their own. */
const ON_SERVERS = [
  'packages/log/src/kafka',
  'packages/log/src/redis',
  'packages/hub/src/redis.test.ts',
  'packages/registry/src/postgres.test.ts',
  'services/outrider/src/distributed.test.ts',
  'services/outrider/src/distributed-jobs.test.ts',
  'services/outrider/src/distributed-promises.test.ts',
  'load-tests/servers/secure.test.ts',
];

/** Starts Redis, PostgreSQL and Kafka on free ports and an empty folder, runs tests on them, and stops them. */
const folder = mkdtempSync(join(tmpdir(), 'outrider-servers-'));
// PostgreSQL runs as another user where this runs as root.
chmodSync(folder, 0o755);
const running: Server[] = [];
let code = 1;
try {
  const commands = ['redis-server', 'initdb', 'java', 'mvn'];
  await ensureCommands(commands, console.log, (command) => isInPath(command) || existsSync(postgresBinary(command)));
  running.push(await startRedis(join(folder, 'redis')));
  running.push(await startPostgres(join(folder, 'postgres')));
  running.push(await startKafka(join(folder, 'kafka')));
  const environment = Object.assign({}, ...running.map((server) => server.environment)) as Record<string, string>;
  // Files in the place of all that is run here; options go to vitest as they are.
  const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
  const files = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  code = await vitest([...(files.length > 0 ? files : ON_SERVERS), ...options], environment);
} finally {
  for (const server of running.toReversed()) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code);

/** One file after the other: each of the services' own starts up to ten processes. */
function vitest(args: readonly string[], environment: Record<string, string>): Promise<number> {
  const child = spawn('npx', ['vitest', 'run', '--no-file-parallelism', ...args], {
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.once('exit', (ended) => resolve(ended ?? 1)));
}
