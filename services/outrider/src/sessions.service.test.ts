import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type RunningService, startService } from './service.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
/** For calls without a token, of which a service takes few in a minute. */
const SELDOM = { timeout: 60_000, interval: 500 };

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, 'main.ts');
const PASSWORD = 'the operator of a test';
let folder: string;
let service: RunningService;
let base: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-sessions-'));
  service = await startService(folder, undefined, { LOG_LEVEL: 'debug' });
  base = `http://127.0.0.1:${service.ports.http}`;
});
afterAll(async () => {
  await service.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** As a browser sends it: with headers that `fetch` keeps for itself. */
async function browse(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<{ answer: IncomingMessage; body: string }> {
  const asked = request(`${base}${path}`, {
    method,
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
  });
  asked.end(body && JSON.stringify(body));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { answer, body: await text(answer) };
}

async function consoleSession(): Promise<string> {
  const { answer } = await browse('POST', '/auth/login', { origin: base }, { login: 'admin', password: PASSWORD });
  expect(answer.statusCode).toBe(204);
  return answer.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
}

test('a page of the console has the live API by its cookie, until the session ends; no other page has', async () => {
  const cookie = await consoleSession();
  const live = new WebSocket(`${base.replace('http', 'ws')}/live`, { headers: { cookie, origin: base } });
  const received: string[] = [];
  live.on('message', (data) => received.push(JSON.parse(data.toString()).type));
  await once(live, 'open');
  live.send(JSON.stringify({ type: 'subscribe', all: true }));
  await vi.waitFor(() => expect(received).toContain('resumed'), PATIENCE);
  let closedWith: number | null = null;
  live.on('close', (code) => {
    closedWith = code;
  });

  const foreign = new WebSocket(`${base.replace('http', 'ws')}/live`, {
    headers: { cookie, origin: 'http://evil.test' },
  });
  await expect(once(foreign, 'open')).rejects.toThrow('403');

  expect((await browse('POST', '/auth/logout', { cookie, origin: base })).answer.statusCode).toBe(204);
  // How soon is tested in services/notifier/src/live/notifier.test.ts.
  await vi.waitFor(() => expect(closedWith).toBe(4401), PATIENCE);
  expect((await browse('GET', '/api/v1/me', { cookie })).answer.statusCode).toBe(401);
});

test('outrider rotate-keys has a running service sign with a new key, and what the old one signed stays good', async () => {
  const kids = async () => {
    const { keys } = (await (await fetch(`${base}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
    return keys.map(({ kid }) => kid);
  };
  const before = await kids();
  const cookie = await consoleSession();
  const { stdout } = await run(process.execPath, [MAIN, 'rotate-keys'], {
    env: { PATH: process.env.PATH, DATA_DIR: folder },
  });
  const [, kid] = /^key (\S+) signs from now on; 1 older verify/.exec(stdout) ?? [];
  await vi.waitFor(async () => expect(await kids()).toEqual([kid, ...before]), SELDOM);
  await service.call('GET', '/api/v1/me');
  expect((await browse('GET', '/api/v1/me', { cookie })).answer.statusCode).toBe(200);
  const header = `Authorization refresh: JWT ${service.jwt}`;
  const refreshed = await run('curl', ['-s', '-X', 'POST', '-H', header, `${base}/auth/refresh`]);
  const { jwt } = JSON.parse(refreshed.stdout);
  expect(JSON.parse(Buffer.from(jwt.split('.')[0], 'base64url').toString()).kid).toBe(kid);

  await expect(
    run(process.execPath, [MAIN, 'rotate-keys'], { env: { PATH: process.env.PATH, DATA_DIR: join(folder, 'none') } }),
  ).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('there are no keys at') });
});

test('the log never contains a password or a token, even at level debug', async () => {
  const cookie = await consoleSession();
  const wrong = 'a wrong password that is long';
  await browse('POST', '/auth/login?jwt=1', {}, { login: 'admin', password: wrong });
  await browse('PUT', '/api/v1/me/password', { cookie, origin: base }, { currentPassword: wrong, password: wrong });
  await browse('POST', '/auth/login?jwt=1', {}, { login: wrong, password: wrong, more: wrong });
  await browse('GET', '/api/v1/me', { authorization: `JWT ${service.jwt}x` });
  const live = new WebSocket(`${base.replace('http', 'ws')}/live`);
  await once(live, 'open');
  live.send(JSON.stringify({ type: 'authorize', jwt: `${service.jwt}x` }));
  await once(live, 'close');
  const stderrText = service.stderrText();
  expect(stderrText).toContain('configuration');
  for (const secret of [PASSWORD, wrong, service.jwt, cookie.split('=')[1] ?? '', '$argon2']) {
    expect(secret.length).toBeGreaterThan(6);
    expect(stderrText).not.toContain(secret);
  }
});

test('outrider rotate-keys --revoke ends what the old key signed at once: tokens, cookies, refreshes, WebSockets', async () => {
  const cookie = await consoleSession();
  const old = `JWT ${service.jwt}`;
  const live = [{ authorization: old }, { cookie, origin: base }].map(
    (headers) => new WebSocket(`${base.replace('http', 'ws')}/live`, { headers }),
  );
  const closed = Promise.all(live.map((socket) => once(socket, 'close')));
  await Promise.all(live.map((socket) => once(socket, 'open')));
  await service.call('GET', '/api/v1/me');
  const { stdout } = await run(process.execPath, [MAIN, 'rotate-keys', '--revoke'], {
    env: { PATH: process.env.PATH, DATA_DIR: folder },
  });
  expect(stdout).toMatch(/^key \S+ signs from now on; the older ones are revoked/);
  expect((await closed).map(([code]) => code)).toEqual([4401, 4401]);
  expect((await browse('GET', '/api/v1/me', { cookie })).answer.statusCode).toBe(401);
  expect((await browse('GET', '/api/v1/me', { authorization: old })).answer.statusCode).toBe(401);
  expect((await browse('POST', '/auth/refresh', { authorization: old })).answer.statusCode).toBe(401);
  expect((await browse('GET', '/api/v1/me', { cookie: await consoleSession() })).answer.statusCode).toBe(200);
});

// The last one: its address stays blocked.
test('wrong passwords that block an address leave a session of the console behind it its pages and its live API', async () => {
  const cookie = await consoleSession();
  const guess = () => browse('POST', '/auth/login', { origin: base }, { login: 'admin', password: 'a wrong password' });
  // Eleven within one window of a minute: it may end between them.
  let status = 0;
  for (let nth = 0; nth < 21 && status !== 429; nth++) status = (await guess()).answer.statusCode ?? 0;
  expect(status).toBe(429);
  expect((await browse('GET', '/api/v1/me', {})).answer.statusCode).toBe(429);
  expect((await browse('GET', '/api/v1/me', { authorization: `JWT ${service.jwt}` })).answer.statusCode).toBe(429);
  expect((await browse('GET', '/api/v1/me', { cookie })).answer.statusCode).toBe(200);
  const live = new WebSocket(`${base.replace('http', 'ws')}/live`, { headers: { cookie, origin: base } });
  const received: string[] = [];
  live.on('message', (data) => received.push(JSON.parse(data.toString()).type));
  await once(live, 'open');
  live.send(JSON.stringify({ type: 'subscribe', all: true }));
  await vi.waitFor(() => expect(received).toContain('resumed'), PATIENCE);
  live.terminate();
});
