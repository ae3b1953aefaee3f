import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { holdAgainstDocument } from '@outrider/api/described-answer';
import { type ListedProtocol, protocols } from '@outrider/protocols';
import { reservePort } from '@outrider/testing/port';
import { expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { holdAgainstLiveDocument } from './described-message.fixture.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const PATIENCE = { timeout: 60_000, interval: 20 };
/** Password of the operator `admin`. */
export const OPERATOR_PASSWORD = 'the operator of a test';

export type Ports = Record<'http' | 'video' | ListedProtocol, number>;

/** The service as users run it: a process of its own, used only over its ports. */
export interface RunningService {
  ports: Ports;
  /** Its standard error. */
  stderrText(): string;
  /** One call of the REST API as the operator; throws on any answer that is not 2xx. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  jwt: string;
  /** `kill -9`: it can save nothing. */
  kill(): Promise<void>;
  /** As Ctrl-C does. @returns the exit code */
  interrupt(): Promise<number | null>;
}

const ANY_PORTS = Object.fromEntries(
  ['http', 'video', ...protocols.map(({ name }) => name)].map((name) => [name, 0]),
) as Ports;

/** The process of the service. */
export interface ServiceProcess {
  pid: number;
  /** Its ports, once it listens; null when it ended before. */
  ready: Promise<Ports | null>;
  /** Its standard error. */
  stderrText(): string;
  /** Resolves when it has ended, for any reason. */
  ended: Promise<unknown>;
  /** `kill -9`: it can save nothing. Resolves when it has ended. */
  kill(): Promise<void>;
  /** As Ctrl-C does. @returns the exit code */
  interrupt(): Promise<number | null>;
}

/** The settings for a service on these ports. */
export function portVariables(ports: Ports): Record<string, string> {
  return {
    PORT: String(ports.http),
    VIDEO_MEDIA_PORT: String(ports.video),
    ...Object.fromEntries(protocols.map(({ name, settingPrefix }) => [`${settingPrefix}_PORT`, String(ports[name])])),
  };
}

/**
 * Starts the service on a folder, without waiting until it is ready.
 *
 * @param openFiles the limit of open files that it has; null: that of this process
 */
export function spawnService(
  folder: string,
  ports: Ports = ANY_PORTS,
  environment: Record<string, string> = {},
  openFiles: number | null = null,
): ServiceProcess {
  const start = [process.execPath, MAIN, 'start'] as const;
  const [command, ...args] =
    openFiles === null ? start : (['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', ...start] as const);
  const child = spawn(command, args, {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      ...portVariables(ports),
      VIDEO_MEDIA_HOST: '127.0.0.1',
      ADMIN_PASSWORD: OPERATOR_PASSWORD,
      LIMIT_AUTHORIZED_PER_MINUTE: '100000',
      LOG_FORMAT: 'json',
      ARCHIVE_MS: '200',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderrText = '';
  child.stderr.on('data', (chunk) => {
    stderrText += chunk;
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  return {
    pid: child.pid ?? 0,
    ready: firstLine(child).then((line) => (line === null ? null : (JSON.parse(line) as { ports: Ports }).ports)),
    stderrText: () => stderrText,
    ended: exited,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async interrupt() {
      child.kill('SIGINT');
      const [code] = await exited;
      return code;
    },
  };
}

/** Starts the service on a folder; on ports that are reserved for it, or on those it had before. */
export async function startService(
  folder: string,
  ports?: Ports,
  environment: Record<string, string> = {},
): Promise<RunningService> {
  const service = spawnService(folder, ports ?? (await reservedPorts()), environment);
  const listening = await service.ready;
  if (listening === null) throw new Error(`the service did not start:\n${service.stderrText()}`);
  const jwt = await logIn(listening.http, 'admin', environment.ADMIN_PASSWORD ?? OPERATOR_PASSWORD);
  const { stderrText, kill, interrupt } = service;
  return {
    ports: listening,
    jwt,
    stderrText,
    kill,
    interrupt,
    call: <T>(method: string, path: string, body?: unknown) => call<T>(listening.http, jwt, method, path, body),
  };
}

interface Readiness {
  parts: Record<string, { behind?: { definitions?: number } }>;
}

/**
 * Resolves when definitions that were made before are in force: they are published, and everybody who reads them in
 * these processes has processed them.
 *
 * @param ports of `/health/ready`, of all processes that publish or read definitions
 */
export async function inForce(...ports: readonly number[]): Promise<void> {
  const behind = async (isOf: (part: string) => boolean) => {
    const ready = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/health/ready`)).json());
    const parts = ((await Promise.all(ready)) as Readiness[]).flatMap((each) => Object.entries(each.parts));
    return parts.flatMap(([name, part]) => (isOf(name) ? (part.behind?.definitions ?? 0) : []));
  };
  const isPublisher = (part: string) => part === 'definitions';
  await vi.waitFor(async () => expect(Math.max(0, ...(await behind(isPublisher)))).toBe(0), PATIENCE);
  await vi.waitFor(async () => {
    expect(Math.max(0, ...(await behind((part) => !isPublisher(part))))).toBe(0);
  }, PATIENCE);
}

/** @returns the token */
export async function logIn(port: number, login: string, password: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/auth/login?jwt=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ login, password }),
  });
  const { jwt } = (await answer.json()) as { jwt?: string };
  if (jwt === undefined) throw new Error(`${login} was not let in: ${answer.status}`);
  return jwt;
}

/** One call of the REST API, its answer held against the OpenAPI document; throws on any answer that is not 2xx. */
export async function call<T>(
  port: number,
  jwt: string,
  method: string,
  path: string,
  body?: unknown,
  moreHeaders: Record<string, string> = {},
): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      Authorization: `JWT ${jwt}`,
      ...moreHeaders,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status, headers } = response;
  holdAgainstDocument(method, path.split('?', 1)[0] ?? '', { status, headers, text });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
}

/** A port for each listener, which the service has again after a restart. */
export async function reservedPorts(): Promise<Ports> {
  const numbers = await Promise.all(Object.keys(ANY_PORTS).map(reservePort));
  return Object.fromEntries(Object.keys(ANY_PORTS).map((name, nth) => [name, numbers[nth]])) as Ports;
}

async function firstLine(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface(child.stdout)) return line;
  return null;
}

/** What the service prints for people when it starts; it runs until `use` is done. */
export async function printedAtStart(folder: string, use: (text: string) => Promise<void>): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      ...portVariables(ANY_PORTS),
      ADMIN_PASSWORD: OPERATOR_PASSWORD,
      LOG_FORMAT: 'text',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let text = '';
    for await (const chunk of child.stdout) {
      text += chunk;
      if (/Outrider is ready[\s\S]*\n\n[\s\S]*\n\n/.test(text)) break;
    }
    await use(text);
    return text;
  } finally {
    child.kill('SIGKILL');
  }
}

/** Runs the service where it is expected to refuse to start. */
export async function refusedStart(
  environment: Record<string, string>,
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      LOG_FORMAT: 'json',
      HOST: '127.0.0.1',
      ...portVariables(ANY_PORTS),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, said };
}

export type LiveMessage = Record<string, unknown> & { type: string };

/** A client of the live API that reconnects with its last cursor whenever the service is back. */
export class LiveRecorder {
  readonly messages: LiveMessage[] = [];
  #socket: WebSocket | null = null;
  #cursor: string | null = null;

  /** Resolves once the server has sent all missed messages. */
  async connect({ ports, jwt }: { ports: Pick<Ports, 'http'>; jwt: string }): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${ports.http}/live`, { headers: { Authorization: `JWT ${jwt}` } });
    this.#socket = socket;
    await once(socket, 'open');
    const resumed = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        const message = JSON.parse(data.toString()) as LiveMessage;
        holdAgainstLiveDocument(message);
        this.messages.push(message);
        if (typeof message.cursor === 'string') this.#cursor = message.cursor;
        if (message.type === 'resumed') resolve();
      });
    });
    socket.on('error', () => {});
    socket.send(
      JSON.stringify({ type: 'subscribe', all: true, ...(this.#cursor === null ? {} : { since: this.#cursor }) }),
    );
    await resumed;
  }

  of(type: string): LiveMessage[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** The newest position of a vehicle that it was sent, in a snapshot or after it. */
  lastPosition(vehicleId: string): Record<string, unknown> | undefined {
    return this.messages
      .flatMap((message) => {
        if (message.type === 'snapshot') return message.positions as Record<string, unknown>[];
        return message.type === 'position' ? [message] : [];
      })
      .findLast((position) => position.vehicleId === vehicleId);
  }

  close(): void {
    this.#socket?.terminate();
  }
}

/** How many good positions of a vehicle the archive has, by the pages of its track. */
export async function archivedCount(service: Pick<RunningService, 'call'>, vehicleId: string): Promise<number> {
  const query = new URLSearchParams({
    vehicleId,
    from: '2005-01-01T00:00:00.000Z',
    to: '2099-01-01T00:00:00.000Z',
    limit: '1000',
  });
  for (let count = 0; ; ) {
    const { items, nextCursor } = await service.call<{ items: unknown[]; nextCursor: string | null }>(
      'GET',
      `/api/v1/reports/track?${query}`,
    );
    count += items.length;
    if (nextCursor === null) return count;
    query.set('cursor', nextCursor);
  }
}
