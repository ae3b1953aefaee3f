import { spawn } from 'node:child_process';
import { useFastFolder } from '@outrider/testing/folder';
import { startAllServers } from './all.ts';

/**
 * Starts Redis, PostgreSQL, Kafka, ClickHouse and S3 on free ports and an empty folder, runs tests on them, and stops
 * them.
 */
const removeFolder = useFastFolder();
const servers = await startAllServers(console.log);
let code = 1;
try {
  code = await vitest(process.argv.slice(2), servers.environment);
} finally {
  await servers.stop();
  removeFolder();
}
process.exit(code);

/**
 * Adapters (`packages/`) are tested several files at a time. Everything else goes one file after the other: each starts
 * up to two dozen processes.
 */
function vitest(args: readonly string[], environment: Record<string, string>): Promise<number> {
  const filters = args.filter((arg) => !arg.startsWith('-'));
  const ofAdapters = filters.length > 0 && filters.every((filter) => filter.startsWith('packages/'));
  const oneByOne = ofAdapters ? [] : ['--no-file-parallelism'];
  const child = spawn('npx', ['vitest', 'run', '--project=servers', ...oneByOne, ...args], {
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  return new Promise((resolve) => child.once('exit', (ended) => resolve(ended ?? 1)));
}
