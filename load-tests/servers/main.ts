import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureCommands, isInPath } from './install.ts';
import { fetchJars, startKafka } from './kafka.ts';
import { postgresBinary, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Server } from './server.ts';

interface KnownServer {
  port: number;
  start(folder: string, port: number): Promise<Server>;
  commands: readonly string[];
}

/** Where each listens, and how it is started. */
const SERVERS: Record<string, KnownServer> = {
  redis: { port: 6379, start: startRedis, commands: ['redis-server'] },
  postgres: { port: 5432, start: startPostgres, commands: ['initdb'] },
  kafka: { port: 9092, start: startKafka, commands: ['java', 'mvn'] },
};

const { values, positionals } = parseArgs({
  options: {
    folder: { type: 'string', default: './data/servers' },
    /** Installs them, and what else the tests need, and ends. */
    install: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.install) {
  await ensureCommands([...Object.values(SERVERS).flatMap(({ commands }) => commands), 'ffmpeg'], console.log, isThere);
  await fetchJars(console.log);
  console.log('Everything that the tests need is there.');
  process.exit(0);
}
const names = positionals.length > 0 ? positionals : Object.keys(SERVERS);
const folder = resolve(values.folder);
mkdirSync(folder, { recursive: true });

/** Debian keeps PostgreSQL's commands out of the path. */
function isThere(command: string): boolean {
  return isInPath(command) || existsSync(postgresBinary(command));
}

const running: Server[] = [];
async function stopAll(): Promise<void> {
  for (const server of running.toReversed()) await server.stop();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopAll().then(() => process.exit(0)));

try {
  for (const name of names) {
    const known = SERVERS[name];
    if (!known) throw new Error(`there is no server ${name}; there are ${Object.keys(SERVERS).join(', ')}`);
    await ensureCommands(known.commands, console.log, isThere);
    console.log(`${name} starts …`);
    running.push(await known.start(join(folder, name), known.port));
  }
  console.log('\nAll run, until Ctrl-C. For the services and the tests:\n');
  for (const { environment } of running)
    for (const [name, value] of Object.entries(environment)) console.log(`  export ${name}=${value}`);
} catch (error) {
  console.error((error as Error).message);
  await stopAll();
  process.exitCode = 1;
}
