import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { MAIN, type ServiceName } from '../../services/outrider/src/distributed.fixture.ts';
import { DEFAULT_FOLDER, ENVIRONMENT_FILE, OWN_SETTINGS, SERVICE_NAMES, sharedSettings } from './services.ts';

/*
 * Every service as a process of its own, on the servers that `npm run services` runs, until Ctrl-C. When one ends, all
 * do.
 */
const { values } = parseArgs({ options: { folder: { type: 'string', default: DEFAULT_FOLDER } } });
const environmentFile = join(values.folder, ENVIRONMENT_FILE);
const running = new Map<ServiceName, ChildProcess>();
let isStopping = false;

/** Resolves when the service is ready, or has ended. */
async function start(service: ServiceName): Promise<void> {
  const child = spawn(process.execPath, [`--env-file=${environmentFile}`, MAIN[service]], {
    env: { ...OWN_SETTINGS[service], ...process.env, LOG_FORMAT: 'text' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.set(service, child);
  child.once('exit', (code) => {
    running.delete(service);
    if (isStopping) return;
    console.error(`${service} ended with ${code}`);
    process.exitCode = 1;
    stop();
  });
  const output = createInterface(child.stdout);
  output.on('line', (line) => console.log(line));
  const ready = new Promise<void>((resolve) => {
    output.on('line', (line) => line.startsWith(`outrider ${service} is ready`) && resolve());
  });
  await Promise.race([ready, once(child, 'exit')]);
}

function stop(): void {
  isStopping = true;
  for (const child of running.values()) child.kill();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
if (!existsSync(environmentFile)) {
  console.error(`no ${environmentFile}: start the servers first, by npm run services`);
  process.exit(1);
}
const [first = 'api', ...others] = SERVICE_NAMES;
await start(first);
if (!isStopping) await Promise.all(others.map(start));
if (!isStopping) {
  const { api, notifier } = OWN_SETTINGS;
  console.log(`
All services are ready, until Ctrl-C.
  API       http://127.0.0.1:${api.PORT}/docs/   admin / ${sharedSettings(values.folder).ADMIN_PASSWORD}
  live API  ws://127.0.0.1:${notifier.PORT}/live
`);
}
