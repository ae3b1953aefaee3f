import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MAIN, type ServiceName } from '../../services/outrider/src/distributed.fixture.ts';
import { DEFAULT_FOLDER, ENVIRONMENT_FILE, OWN_SETTINGS, SERVICE_NAMES } from './services.ts';

/*
 * Every service as a process of its own, on the servers that `npm run services` runs, until Ctrl-C. When one ends, all do.
 */
const READY_TIMEOUT_MS = 120_000;

const { values } = parseArgs({ options: { folder: { type: 'string', default: DEFAULT_FOLDER } } });
const environmentFile = join(values.folder, ENVIRONMENT_FILE);
const running = new Map<ServiceName, ChildProcess>();
let isStopping = false;

function start(service: ServiceName): void {
  const child = spawn(process.execPath, [`--env-file=${environmentFile}`, MAIN[service]], {
    env: { ...process.env, ...OWN_SETTINGS[service] },
    stdio: 'inherit',
  });
  running.set(service, child);
  child.once('exit', (code) => {
    running.delete(service);
    if (!isStopping) {
      console.error(`${service} ended with ${code}`);
      process.exitCode = 1;
      stop();
    }
  });
}

function stop(): void {
  isStopping = true;
  for (const child of running.values()) child.kill();
}

async function untilReady(service: ServiceName): Promise<void> {
  const untilMs = performance.now() + READY_TIMEOUT_MS;
  while (!isStopping && !(await isReady(service))) {
    if (performance.now() > untilMs) throw new Error(`${service} is not ready after ${READY_TIMEOUT_MS / 1000} s`);
    await delay(200);
  }
}

async function isReady(service: ServiceName): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${OWN_SETTINGS[service].HEALTH_PORT}/health/ready`)).ok;
  } catch {
    return false;
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
try {
  if (!existsSync(environmentFile))
    throw new Error(`no ${environmentFile}: start the servers first, by npm run services`);
  const [first = 'api', ...others] = SERVICE_NAMES;
  start(first);
  await untilReady(first);
  if (!isStopping) for (const service of others) start(service);
  await Promise.all(others.map(untilReady));
  if (!isStopping)
    console.log(
      '\nAll services are ready, until Ctrl-C. API: http://127.0.0.1:8080/docs/, live API: ws://127.0.0.1:8081/live, operator: admin / outrider-admin\n',
    );
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
  stop();
}
