import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RunningService, startService } from './service.fixture.ts';

/** A header section has 10 s, the first packet of a stream 15 s, and a refused peer a moment. */
const PATIENCE = { timeout: 30_000, interval: 250 };
const COUNT = 20;

let folder: string;
let service: RunningService;
const held: Socket[] = [];
/** The ends of those, as the system lists them. */
const ends = new Set<string>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-refused-'));
  service = await startService(folder);
}, 120_000);
afterEach(() => {
  for (const socket of held.splice(0)) socket.destroy();
  ends.clear();
});
afterAll(async () => {
  await service?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** A peer that never ends its side, and of what it is sent reads only what `takes` says. */
async function hold(port: number, bytes: string | Buffer, takes: 'all' | 'nothing'): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  held.push(socket);
  socket.on('error', () => {});
  await once(socket, 'connect');
  ends.add(endOf(socket.localPort ?? 0));
  if (takes === 'all') socket.resume();
  socket.write(bytes);
}

function endOf(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Held connections that the service has a descriptor of: the system keeps ends of its own for a while. */
function heldByService(port: number): number {
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local = '', remote = '', , , , , , , inode]) =>
        local.endsWith(endOf(port)) && ends.has(remote.slice(-5)) && inode !== '0',
    ).length;
}

const HEAD = 'Host: a\r\n';
const UPGRADE = `${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
/** A text frame as a client masks it. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** Everything that a listener for HTTP refuses before or instead of an answer of a route. */
const HTTP: [what: string, bytes: string | Buffer][] = [
  ['bytes that are no HTTP', 'no HTTP at all\r\n\r\n'],
  ['headers that never end', `GET / HTTP/1.1\r\n${HEAD}X-Half: `],
  ['headers that are too large', `GET / HTTP/1.1\r\n${HEAD}X-Large: ${'x'.repeat(100_000)}\r\n\r\n`],
];
const API: typeof HTTP = [
  ['a body that never comes', `POST /auth/login HTTP/1.1\r\n${HEAD}Connection: close\r\nContent-Length: 9\r\n\r\n`],
  ['the literal refresh', `POST /auth/refresh HTTP/1.1\r\n${HEAD}Authorization refresh: nothing\r\n\r\n`],
  ['the literal refresh, half sent', `POST /auth/refresh HTTP/1.1\r\n${HEAD}Authorization refresh: nothing\r\nX`],
  ['an upgrade of a path without one', `GET /elsewhere HTTP/1.1\r\n${UPGRADE}\r\n`],
  ['an upgrade with a wrong token', `GET /live HTTP/1.1\r\n${UPGRADE}Authorization: JWT wrong\r\n\r\n`],
  [
    'a live client with a wrong token',
    Buffer.concat([
      Buffer.from(`GET /live HTTP/1.1\r\n${UPGRADE}\r\n`),
      frame(JSON.stringify({ type: 'authorize', jwt: 'wrong' })),
    ]),
  ],
];

async function expectNoneHeld(port: number, bytes: string | Buffer): Promise<void> {
  for (const takes of ['all', 'nothing'] as const)
    await Promise.all(Array.from({ length: COUNT / 2 }, () => hold(port, bytes, takes)));
  await expect.poll(() => heldByService(port), PATIENCE).toBe(0);
}

test.each([...HTTP, ...API])(
  'the API lets go of peers that never close: %s',
  async (_, bytes) => {
    await expectNoneHeld(service.ports.http, bytes);
  },
  60_000,
);

test.each(HTTP)(
  'the receiver of phones lets go of peers that never close: %s',
  async (_, bytes) => {
    await expectNoneHeld(service.ports.osmand, bytes);
  },
  60_000,
);

test('every listener for terminals lets go of peers that never close, and of streams that nobody waits for', async () => {
  const { http: _, ...ports } = service.ports;
  const garbage = Buffer.alloc(70_000, 0x5a);
  await Promise.all(Object.values(ports).map((port) => hold(port, garbage, 'nothing')));
  const open = () => Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, heldByService(port)]));
  const none = Object.fromEntries(Object.keys(ports).map((name) => [name, 0]));
  await expect.poll(open, PATIENCE).toEqual(none);
}, 60_000);
