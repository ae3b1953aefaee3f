import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ListedProtocol, protocols } from '@outrider/protocols';
import { statusOf, threadCpuSecondsOf, treeCpuSecondsOf, wakesOf } from '@outrider/testing/process-tree';
import { parseMetrics } from './prometheus.ts';

export const ADMIN_LOGIN = 'admin';
export const ADMIN_PASSWORD = 'a password for the benchmark';

/** The service in a process of its own, with everything embedded and a data folder that goes with it. */
export interface Service {
  host: string;
  ports: { http: number; video: number } & Record<ListedProtocol, number>;
  /** The samples at `GET /metrics`, see {@link parseMetrics}. */
  metrics(): Promise<Map<string, number>>;
  /** Resident memory of its processes, MB; null on systems without `/proc`. */
  residentMb(): Promise<number | null>;
  /** Sum of the peaks of its processes that run now, MB. */
  peakResidentMb(): Promise<number | null>;
  /** Seconds of processor time since its start; null on systems without `/proc`. */
  cpuSeconds(): Promise<number | null>;
  readonly pid: number;
  /** Resolves when its process has ended, for any reason, with its last output. */
  readonly ended: Promise<string>;
  /** The same by thread name, threads of one name added up; empty on systems without `/proc`. */
  threadCpuSeconds(): Promise<Map<string, number>>;
  /** How often its threads were woken from waiting, all that run now; null on systems without `/proc`. */
  wakes(): Promise<number | null>;
  /** Null where the system does not report it. */
  threadCount(): Promise<number | null>;
  /** Drains and stops it, as Ctrl-C does, and removes its folder. @throws {Error} when it ended badly */
  stop(): Promise<void>;
}

/** How long it may take to be ready. */
const READY_MS = 60_000;

/**
 * Starts the built service on free ports.
 *
 * @param settings besides those that every benchmark has
 * @param onOutput gets the output of the service as it comes
 * @param nodeOptions of its command line
 * @throws {Error} with what it said when it is not ready in time
 */
export async function startService(
  settings: Readonly<Record<string, string>> = {},
  onOutput: (text: string) => void = () => {},
  nodeOptions: readonly string[] = [],
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'outrider-bench-'));
  const entry = new URL('../../../services/outrider/src/main.ts', import.meta.url).pathname;
  // Of a run that profiles (`npm run bench -- profile`): so does the service.
  const child = spawn(process.execPath, [...process.execArgv, ...nodeOptions, entry, 'start'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      DATA_DIR: join(folder, 'data'),
      HOST: '127.0.0.1',
      PORT: '0',
      ...Object.fromEntries(protocols.map(({ settingPrefix }) => [`${settingPrefix}_PORT`, '0'])),
      VIDEO_MEDIA_PORT: '0',
      VIDEO_MEDIA_HOST: '127.0.0.1',
      ADMIN_PASSWORD,
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'warn',
      // The definitions are made through the REST API as fast as it goes.
      LIMIT_AUTHORIZED_PER_MINUTE: '1000000000',
      LIMIT_UNAUTHORIZED_PER_MINUTE: '1000000000',
      ...settings,
    },
  });
  const killed = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', killed);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4000);
    onOutput(chunk.toString());
  });
  try {
    const ports = await readyPorts(child, () => said);
    const pid = child.pid ?? 0;
    const statusMb = async (field: string): Promise<number | null> => {
      const kb = await statusOf(pid, field);
      return kb === null ? null : Math.round(kb / 1000);
    };
    return {
      host: '127.0.0.1',
      ports,
      pid,
      ended: exitOf(child).then((code) => `ended with ${code ?? child.signalCode}: ${said}`),
      async metrics() {
        const response = await fetch(`http://127.0.0.1:${ports.http}/metrics`);
        if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
        return parseMetrics(await response.text());
      },
      residentMb: () => statusMb('VmRSS'),
      peakResidentMb: () => statusMb('VmHWM'),
      threadCount: () => statusOf(pid, 'Threads'),
      wakes: () => wakesOf(pid),
      cpuSeconds: () => treeCpuSecondsOf(pid),
      threadCpuSeconds: () => threadCpuSecondsOf(pid),
      async stop() {
        process.off('exit', killed);
        const ended = exitOf(child);
        child.kill('SIGTERM');
        const code = await ended;
        await rm(folder, { recursive: true, force: true });
        if (code !== 0) throw new Error(`the service ended with ${code}: ${said}`);
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    await exitOf(child);
    process.off('exit', killed);
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The line that the service prints when it is ready. */
function readyPorts(child: ChildProcess, said: () => string): Promise<Service['ports']> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the service was not ready in time: ${said()}`)), READY_MS);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${said()}`)));
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      for (const line of text.split('\n').slice(0, -1)) {
        if (!line.startsWith('{')) continue;
        const { ready, ports } = JSON.parse(line) as { ready?: boolean; ports: Service['ports'] };
        if (!ready) continue;
        clearTimeout(timer);
        resolve(ports);
      }
      text = text.slice(text.lastIndexOf('\n') + 1);
    });
  });
}

function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}
