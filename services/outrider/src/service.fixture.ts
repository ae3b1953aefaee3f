import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { holdAgainstDocument } from '@outrider/api/described-answer';
import type { ProtocolName } from '@outrider/domain';
import { WebSocket } from 'ws';

const MAIN = join(import.meta.dirname, 'main.ts');
const PASSWORD = 'the operator of a test';

export type Ports = Record<'http' | 'video' | ProtocolName, number>;

/** The service as its user runs it: a process of its own, reached over its ports alone. */
export interface RunningService {
  ports: Ports;
  /** What it said on standard error. */
  diary(): string;
  /** One call of the REST API as the operator; throws on any answer that is not 2xx. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  jwt: string;
  /** `kill -9`: nothing is written down. */
  kill(): Promise<void>;
  /** As Ctrl-C does. @returns the exit code */
  interrupt(): Promise<number | null>;
}

/** Starts the service on a folder; on free ports, or on those it had before. */
export async function startService(
  folder: string,
  ports: Ports = { http: 0, omnicomm: 0, teltonika: 0, 'wialon-ips': 0, osmand: 0, jt808: 0, video: 0 },
  environment: Record<string, string> = {},
): Promise<RunningService> {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      PORT: String(ports.http),
      OMNICOMM_PORT: String(ports.omnicomm),
      TELTONIKA_PORT: String(ports.teltonika),
      WIALON_PORT: String(ports['wialon-ips']),
      OSMAND_PORT: String(ports.osmand),
      JT808_PORT: String(ports.jt808),
      VIDEO_MEDIA_PORT: String(ports.video),
      VIDEO_MEDIA_HOST: '127.0.0.1',
      ADMIN_PASSWORD: PASSWORD,
      LIMIT_AUTHORIZED_PER_MINUTE: '100000',
      LOG_FORMAT: 'json',
      ARCHIVE_MS: '200',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let diary = '';
  child.stderr.on('data', (chunk) => {
    diary += chunk;
  });
  const ready = await firstLine(child);
  if (ready === null) throw new Error(`the service did not start:\n${diary}`);
  const { ports: told } = JSON.parse(ready) as { ports: Ports };
  const base = `http://127.0.0.1:${told.http}`;
  const login = await fetch(`${base}/auth/login?jwt=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ login: 'admin', password: PASSWORD }),
  });
  const { jwt } = (await login.json()) as { jwt: string };

  return {
    ports: told,
    jwt,
    diary: () => diary,
    async call<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { Authorization: `JWT ${jwt}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const { status, headers } = response;
      holdAgainstDocument(method, path.split('?', 1)[0] ?? '', { status, headers, text });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? null : JSON.parse(text)) as T;
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async interrupt() {
      child.kill('SIGINT');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface(child.stdout)) return line;
  return null;
}

/** Runs the service where it is expected to refuse to start. */
export async function refusedStart(
  environment: Record<string, string>,
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: { PATH: process.env.PATH, LOG_FORMAT: 'json', HOST: '127.0.0.1', ...environment },
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

/** A client of the live API that comes back, with the last cursor it saw, whenever the service does. */
export class LiveRecorder {
  readonly messages: LiveMessage[] = [];
  #socket: WebSocket | null = null;
  #cursor: string | null = null;

  /** Resolves once the server says that nothing is missed any more. */
  async connect({ ports, jwt }: RunningService): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${ports.http}/live`, { headers: { Authorization: `JWT ${jwt}` } });
    this.#socket = socket;
    await once(socket, 'open');
    const resumed = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        const message = JSON.parse(data.toString()) as LiveMessage;
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

  close(): void {
    this.#socket?.terminate();
  }
}
