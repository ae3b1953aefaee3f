import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A real server that runs as a child of this process, its data in a folder of its own. */
export interface Server {
  name: string;
  /** Environment variables with the address, for the services. */
  environment: Record<string, string>;
  /** The same for clients with TLS and a login; null without {@link Security}. */
  secureEnvironment: Record<string, string> | null;
  port: number;
  /** Of its process as it runs now; null while it does not. */
  readonly pid: number | null;
  /** Stops it in order; its data stays on the disk. */
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again on the same folder and port. */
  start(): Promise<void>;
}

/** What a server needs for a further port that speaks TLS and lets one account in. */
export interface Security {
  /** PEM files; the certificate is for `localhost`. */
  keyFile: string;
  certificateFile: string;
  user: string;
  password: string;
}

export interface ServerCommand {
  command: string;
  args: readonly string[];
  environment?: Record<string, string>;
  /** File of its output. */
  logPath: string;
  /** What it ends in order by. Default SIGTERM. */
  stopSignal?: NodeJS.Signals;
}

/** Kafka takes seconds; on a machine that does much else, minutes. */
const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 30_000;

/**
 * Runs a server's command, and again where it is asked to; {@link startServer} returns when its port takes connections.
 */
export async function startServer(
  name: string,
  port: number,
  environment: Record<string, string>,
  command: ServerCommand,
  secureEnvironment: Record<string, string> | null = null,
): Promise<Server> {
  let child: ChildProcess | null = null;
  const start = async () => {
    if (await isReachable(port)) throw new Error(`${name} can't start: port ${port} is in use`);
    child = launch(command);
    await untilReachable(name, port, child, command.logPath);
  };
  await start();
  const end = async (signal: NodeJS.Signals) => {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = new Promise((resolve) => ending.once('exit', resolve));
    ending.kill(signal);
    const timer = setTimeout(() => ending.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  };
  return {
    name,
    port,
    environment,
    secureEnvironment,
    get pid() {
      return child?.pid ?? null;
    },
    start,
    stop: () => end(command.stopSignal ?? 'SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function launch({ command, args, environment, logPath }: ServerCommand): ChildProcess {
  const logger = createWriteStream(logPath, { flags: 'a' });
  const child = spawn(command, args, { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout?.pipe(logger);
  child.stderr?.pipe(logger, { end: false });
  // A command that can't be run is handled like one that failed: `untilReachable` reports it.
  child.on('error', (error) => logger.write(`${error.message}\n`));
  return child;
}

async function untilReachable(name: string, port: number, child: ChildProcess, logPath: string): Promise<void> {
  const untilMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < untilMs) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
      throw new Error(`${name} ended while it started: see ${logPath}`);
    if (await isReachable(port)) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${name} takes no connections on port ${port} after ${START_TIMEOUT_MS / 1000} s: see ${logPath}`);
}

function isReachable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Runs a command to its end. @throws {Error} with its output when it fails */
export async function run(command: string, args: readonly string[], options: { cwd?: string } = {}): Promise<string> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said}`);
  return said;
}
