import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServiceProcess, spawnService } from './service.fixture.ts';

/** What an idle service has open, and a few connections. */
const OPEN_FILES = 160;
const TERMINALS = 200;
const PATIENCE = { timeout: 60_000, interval: 200 };

let folder: string;
let service: ServiceProcess;
/** One connection that is there before all descriptors are taken: what monitors a service mostly has one. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-descriptors-'));
});
afterEach(async () => {
  agent.destroy();
  await service.kill();
  rmSync(folder, { recursive: true, force: true });
});

test.runIf(process.platform === 'linux')(
  'a service without a free descriptor says so, keeps the connections it has, and takes new ones later',
  { timeout: 180_000 },
  async () => {
    service = spawnService(folder, undefined, {}, OPEN_FILES);
    const ports = await service.ready;
    if (ports === null) throw new Error(`the service did not start:\n${service.stderrText()}`);
    const logged = () => service.stderrText();
    expect(logged()).toContain('the limit of open files is too low for the settings');
    expect(logged()).toContain('MAX_TERMINAL_CONNECTIONS');
    const ask = (path: string) => answerOf(ports.http, path);
    expect(await ask('/metrics')).toContain('outrider_file_descriptors_exhausted_total 0');

    const first = await terminal(ports.teltonika);
    const others = await Promise.all(Array.from({ length: TERMINALS }, () => terminal(ports.teltonika)));
    await expect.poll(logged, PATIENCE).toContain('no file descriptor is free: new connections are refused');
    expect(await ask('/health/ready')).toContain('no file descriptor is free');
    expect(await ask('/metrics')).toMatch(/outrider_file_descriptors_exhausted_total [1-9]/);
    // Those beyond the limit were closed, not left waiting.
    await expect.poll(() => others.some((socket) => socket.destroyed), PATIENCE).toBe(true);
    expect(first.destroyed).toBe(false);

    for (const socket of others) socket.destroy();
    await expect.poll(logged, PATIENCE).toContain('enough file descriptors are free again');
    expect(await ask('/health/ready')).not.toContain('no file descriptor is free');
    const later = await terminal(ports.teltonika);
    expect(await answered(later)).toBe(true);
    first.destroy();
    expect(await service.interrupt()).toBe(0);
  },
);

/** Connects, whether or not the service then closes the connection. */
async function terminal(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  await once(socket, 'connect').catch(() => {});
  return socket;
}

/** Does the service read from the connection? It answers a terminal that it does not know. */
async function answered(socket: Socket): Promise<boolean> {
  const ended = new Promise<boolean>((resolve) => {
    socket.on('data', () => resolve(true));
    socket.on('close', () => resolve(false));
  });
  socket.write(Buffer.from('000f333536333037303432343431303133', 'hex'));
  return ended;
}

function answerOf(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ agent, host: '127.0.0.1', port, path }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
