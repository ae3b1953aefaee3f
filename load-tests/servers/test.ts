import { spawn } from 'node:child_process';
import { startAllServers } from './all.ts';

/** What is run on real servers: every adapter's suite, and the services as processes of their own. */
const ON_SERVERS = [
  'packages/log/src/kafka',
  'packages/log/src/redis',
  'packages/hub/src/redis.test.ts',
  'packages/registry/src/postgres.test.ts',
  'packages/warehouse/src/server.test.ts',
  'packages/files/src/s3',
  'services/outrider/src/distributed.test.ts',
  'services/outrider/src/distributed-api.test.ts',
  'services/outrider/src/distributed-jobs.test.ts',
  'services/outrider/src/distributed-promises.test.ts',
  'load-tests/servers/secure.test.ts',
  'load-tests/servers/services.test.ts',
];

/** Starts Redis, PostgreSQL, Kafka, ClickHouse and S3 on free ports and an empty folder, runs tests on them, and stops them. */
const servers = await startAllServers(console.log);
let code = 1;
try {
  // Files in the place of all that is run here; options go to vitest as they are.
  const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
  const files = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
  code = await vitest([...(files.length > 0 ? files : ON_SERVERS), ...options], servers.environment);
} finally {
  await servers.stop();
}
process.exit(code);

/** One file after the other: each of the services' own starts up to two dozen processes. */
function vitest(args: readonly string[], environment: Record<string, string>): Promise<number> {
  const child = spawn('npx', ['vitest', 'run', '--no-file-parallelism', ...args], {
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.once('exit', (ended) => resolve(ended ?? 1)));
}
