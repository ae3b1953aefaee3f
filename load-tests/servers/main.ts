import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureChartTools } from './chart-tools.ts';
import { startClickhouse } from './clickhouse.ts';
import { H2_LIBRARIES } from './h2.ts';
import { ensureCommands, isInPath } from './install.ts';
import { KAFKA_LIBRARIES, startKafka } from './kafka.ts';
import { postgresBinary, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { S3_LIBRARIES, startS3 } from './s3.ts';
import type { Server } from './server.ts';
import { DEFAULT_FOLDER, serviceCommands, writeEnvironment } from './services.ts';

interface KnownServer {
  /** On a free port: others may run on this machine. */
  start(folder: string): Promise<Server>;
  commands: readonly string[];
}

/** How each is started. */
const SERVERS: Record<string, KnownServer> = {
  redis: { start: startRedis, commands: ['redis-server'] },
  postgres: { start: startPostgres, commands: ['initdb'] },
  kafka: { start: startKafka, commands: ['java', 'mvn'] },
  clickhouse: { start: startClickhouse, commands: [] },
  s3: { start: startS3, commands: ['java', 'mvn'] },
};

const { values, positionals } = parseArgs({
  options: {
    folder: { type: 'string', default: DEFAULT_FOLDER },
    /** Installs them, and what else the tests need, and ends. */
    install: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.install) {
  const commands = [...Object.values(SERVERS).flatMap(({ commands }) => commands), 'ffmpeg', 'promtool'];
  await ensureCommands(commands, console.log, isThere);
  // Without these their tests say so, and are skipped.
  await ensureCommands(['chromium', 'python3-venv'], console.log, isThere).catch((error: Error) =>
    console.log(error.message),
  );
  await ensureChartTools(console.log).catch((error: Error) =>
    console.log(`${error.message}\nThe Helm chart is not tried.`),
  );
  await KAFKA_LIBRARIES.fetch(console.log);
  await S3_LIBRARIES.fetch(console.log);
  for (const libraries of Object.values(H2_LIBRARIES)) await libraries.fetch(console.log);
  console.log('Everything that the tests need is there.');
  process.exit(0);
}
const names = positionals.length > 0 ? positionals : Object.keys(SERVERS);
const folder = resolve(values.folder);
mkdirSync(folder, { recursive: true });

function isThere(command: string): boolean {
  if (command === 'chromium' && existsSync(process.env.CHROMIUM ?? '')) return true;
  if (command === 'python3-venv') return spawnSync('python3', ['-c', 'import ensurepip']).status === 0;
  // Debian keeps PostgreSQL's commands out of the path.
  return isInPath(command) || existsSync(postgresBinary(command));
}

/** Writes down what the services need, and prints how they are started. */
function printServices(environment: Readonly<Record<string, string>>): void {
  const file = writeEnvironment(folder, environment);
  const isDefault = folder === resolve(DEFAULT_FOLDER);
  console.log('\nEvery service on them, in another terminal:\n');
  console.log(`  npm run start:services${isDefault ? '' : ` -- --folder ${folder}`}`);
  console.log('\nOr one by one:\n');
  for (const command of serviceCommands(relative(process.cwd(), file))) console.log(`  ${command}`);
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
    running.push(await known.start(join(folder, name)));
  }
  const environment: Record<string, string> = Object.assign({}, ...running.map((server) => server.environment));
  console.log('\nAll run, until Ctrl-C. For the services and the tests:\n');
  for (const [name, value] of Object.entries(environment)) console.log(`  export ${name}=${value}`);
  if (running.length === Object.keys(SERVERS).length) printServices(environment);
} catch (error) {
  console.error((error as Error).message);
  await stopAll();
  process.exitCode = 1;
}
