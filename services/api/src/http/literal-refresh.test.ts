import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PASSWORD, World } from '../api.fixture.ts';
import { type ApiServer, listenApi } from './listen.ts';
import { readLiteralRefresh } from './literal-refresh.ts';

const run = promisify(execFile);
const HOST = '127.0.0.1';
let world: World;
let http: ApiServer;
const sockets: Socket[] = [];
/** The server's sides of the connections, by the ports of the clients. */
const servers = new Map<number | undefined, Socket>();
beforeEach(async () => {
  world = await World.open();
  http = await listenApi(world.api, { host: HOST, port: 0 });
  servers.clear();
  http.server.on('connection', (socket) => servers.set(socket.remotePort, socket));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await http.close(0);
  await world.close();
});

/** A client that writes raw bytes, and reads until the server closes the connection. */
async function rawClient() {
  const socket = connect(http.port, HOST);
  sockets.push(socket);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => {});
  return {
    say: (text: string) => socket.write(text, 'latin1'),
    /** The server has read everything, or reads no more. */
    isRead: () =>
      vi.waitFor(
        () => {
          const server = servers.get(socket.localPort);
          expect(socket.destroyed || server?.destroyed || server?.bytesRead === socket.bytesWritten).toBe(true);
        },
        { timeout: 60_000, interval: 1 },
      ),
    received: () => received,
    async receives(text: string) {
      while (!received.includes(text)) await once(socket, 'data');
    },
    async untilClosed() {
      await closed;
      return received;
    },
  };
}

/** What one connection answers to these bytes, which it must then close. */
async function exchange(...packets: string[]): Promise<string> {
  const client = await rawClient();
  for (const packet of packets) {
    client.say(packet);
    await client.isRead();
  }
  return client.untilClosed();
}

const literal = (jwt: string, more = '') =>
  `POST /auth/refresh HTTP/1.1\r\nHost: outrider.test\r\nAuthorization refresh: JWT ${jwt}\r\n${more}\r\n`;
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
const answersIn = (received: string) => received.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0;

describe('the header as the specification writes it', () => {
  test('refreshes an expired token, and the connection ends with the answer', async () => {
    const { jwt } = await world.member('anna');
    world.nowMs += 86_400_000;
    const answer = await exchange(literal(jwt));
    expect(statusOf(answer)).toBe(200);
    expect(answer).toMatch(/\r\nconnection: close\r\n/);
    expect(answer).toMatch(/\r\nx-content-type-options: nosniff\r\n/);
    const fresh = bodyOf(answer).jwt;
    expect((await world.call('GET', '/api/v1/me', { jwt: fresh })).status).toBe(200);
  });

  test('works with curl, which sends it literally', async () => {
    const { jwt } = await world.member('anna');
    const url = `http://${HOST}:${http.port}/auth/refresh`;
    const header = `Authorization refresh: JWT ${jwt}`;
    const bare = await run('curl', ['-s', '-X', 'POST', '-H', header, url]);
    expect(JSON.parse(bare.stdout)).toMatchObject({ jwt: expect.any(String) });
    const withBody = await run('curl', ['-s', '-i', '-d', '{"any":"body"}', '-H', header, url]);
    expect(statusOf(withBody.stdout)).toBe(200);
    const emptyBody = await run('curl', ['-s', '-i', '-d', '', '-H', header, url]);
    expect(statusOf(emptyBody.stdout)).toBe(200);
    const elsewhere = await run('curl', ['-s', '-i', '-H', header, url.replace('/auth/refresh', '/api/v1/me')]);
    expect(statusOf(elsewhere.stdout)).toBe(400);
  });

  test('is refused as any other spelling is: by problem+json, and counted', async () => {
    const answer = await exchange(literal('a.b.c'));
    expect(statusOf(answer)).toBe(401);
    expect(answer).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/);
    expect(answer).toMatch(/\r\nratelimit: "unauthorized";r=59;t=60\r\n/);
    expect(bodyOf(answer)).toMatchObject({ type: 'urn:outrider:problem:not-authorized', status: 401 });
    const ended = await world.member('anna');
    await world.call('POST', '/auth/logout', { jwt: ended.jwt });
    expect(statusOf(await exchange(literal(ended.jwt)))).toBe(401);
  });

  test('stands under the limit of its address', async () => {
    const { jwt } = await world.member('anna');
    for (let n = 1; n <= 60; n += 1) expect(statusOf(await exchange(literal(jwt)))).toBe(200);
    expect(statusOf(await exchange(literal(jwt)))).toBe(429);
  });

  test('comes after other calls on one connection, and in pieces', async () => {
    const { jwt } = await world.member('anna');
    const login = JSON.stringify({ login: 'anna', password: PASSWORD });
    const client = await rawClient();
    client.say(
      `POST /auth/login?jwt=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${login.length}\r\n\r\n${login}`,
    );
    await client.receives('"expiresAt"');
    client.say('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.receives('"ok"');
    client.say(literal(jwt));
    const received = await client.untilClosed();
    expect(received.match(/"jwt":/g)).toHaveLength(2);
    const whole = literal(jwt, 'Content-Length: 4\r\nAccept: */*\r\n');
    const cut = whole.indexOf('JWT ') + 10;
    expect(statusOf(await exchange(whole.slice(0, cut), whole.slice(cut), 'body'))).toBe(200);
  });
});

describe('in pieces', () => {
  test('wherever a packet ends', async () => {
    const { jwt } = await world.member('anna');
    const whole = literal(jwt, 'Content-Length: 4\r\nAccept: */*\r\n');
    const lineEnds = [...whole.matchAll(/\r\n/g)].flatMap(({ index }) => [index, index + 1, index + 2]);
    const inName = whole.indexOf('Authorization');
    const cuts = [1, 4, 5, 12, 18, ...lineEnds, ...Array.from({ length: 26 }, (_, nth) => inName + nth)];
    const apart = await Promise.all(
      cuts.map(async (cut) => [cut, statusOf(await exchange(whole.slice(0, cut), whole.slice(cut), 'body'))] as const),
    );
    // The last ones are over the limit of their address, which shows that they were counted.
    const within = apart.filter(([, status]) => status !== 429);
    expect(within.length).toBeGreaterThan(Math.min(55, cuts.length) - 1);
    for (const [cut, status] of within) expect(status, `cut at ${cut}`).toBe(200);
  });

  test('byte by byte, on a connection that has logged in', async () => {
    const { jwt } = await world.member('anna');
    const login = JSON.stringify({ login: 'anna', password: PASSWORD });
    const client = await rawClient();
    client.say('POST /auth/login?jwt=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n');
    client.say(`Content-Length: ${login.length}\r\n\r\n${login.slice(0, 7)}`);
    client.say(login.slice(7));
    await client.receives('"expiresAt"');
    for (const byte of literal(jwt)) {
      client.say(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await client.untilClosed()).match(/"jwt":/g)).toHaveLength(2);
  });
});

test('a query goes to the API: jwt=1 as in the login, another is refused by name', async () => {
  const { jwt } = await world.member('anna');
  const withQuery = (query: string) => exchange(literal(jwt).replace('/auth/refresh', `/auth/refresh?${query}`));
  expect(statusOf(await withQuery('jwt=1'))).toBe(200);
  expect(statusOf(await withQuery(''))).toBe(200);
  const answer = await withQuery('x=1');
  expect(statusOf(answer)).toBe(400);
  expect(bodyOf(answer)).toMatchObject({ errors: [{ parameter: 'x' }] });
});

test('the token may stand there bare, and be the one for refreshing', async () => {
  await world.addUser('anna');
  const { jwt, refresh } = (await world.login('anna', PASSWORD)).body;
  for (const token of [jwt, refresh]) {
    expect(statusOf(await exchange(literal(token)))).toBe(200);
    expect(statusOf(await exchange(literal(token).replace('JWT ', '')))).toBe(200);
  }
});

describe('nothing else gets through', () => {
  const refused: Record<string, (jwt: string) => string> = {
    'another path': (jwt) => literal(jwt).replace('/auth/refresh', '/api/v1/me'),
    'another path that begins like it': (jwt) => literal(jwt).replace('/auth/refresh', '/auth/refreshed'),
    'a fragment': (jwt) => literal(jwt).replace('/auth/refresh', '/auth/refresh?jwt=1#x'),
    'a space in the query': (jwt) => literal(jwt).replace('/auth/refresh', '/auth/refresh?jwt =1'),
    'a whole URL': (jwt) => literal(jwt).replace('/auth/refresh', 'http://a/auth/refresh'),
    'another method': (jwt) => literal(jwt).replace('POST', 'PUT'),
    'another version': (jwt) => literal(jwt).replace('HTTP/1.1', 'HTTP/1.0'),
    'the header twice': (jwt) => literal(jwt, `Authorization refresh: JWT ${jwt}\r\n`),
    'a second spelling': (jwt) => literal(jwt, `Authorization-Refresh: JWT ${jwt}\r\n`),
    'Authorization besides': (jwt) => literal(jwt, `Authorization: JWT ${jwt}\r\n`),
    'another header with a space': (jwt) => literal(jwt, 'X other: 1\r\n'),
    'a space before the colon': (jwt) => literal(jwt).replace('refresh:', 'refresh :'),
    'two spaces': (jwt) => literal(jwt).replace('Authorization refresh', 'Authorization  refresh'),
    'a tab': (jwt) => literal(jwt).replace('Authorization refresh', 'Authorization\trefresh'),
    'a folded line': (jwt) => literal(jwt, ' folded\r\n'),
    'a bare line feed': (jwt) => literal(jwt, 'X: 1\nY: 2\r\n'),
    'a NUL': (jwt) => literal(jwt, 'X: \0\r\n'),
    'no Host': (jwt) => literal(jwt).replace('Host: outrider.test\r\n', ''),
    'two Hosts': (jwt) => literal(jwt, 'Host: b\r\n'),
    'a transfer coding': (jwt) => `${literal(jwt, 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`,
    'two lengths': (jwt) => literal(jwt, 'Content-Length: 0\r\nContent-Length: 0\r\n'),
    'a signed length': (jwt) => literal(jwt, 'Content-Length: +0\r\n'),
    'a request behind it': (jwt) => `${literal(jwt)}GET /api/v1/me HTTP/1.1\r\nHost: a\r\n\r\n`,
    'a request behind its body': (jwt) =>
      `${literal(jwt, 'Content-Length: 2\r\n')}okGET /health/live HTTP/1.1\r\nHost: a\r\n\r\n`,
    'more than a parser takes': (jwt) => literal(jwt, `X: ${'x'.repeat(20_000)}\r\n`),
    'an upgrade': (jwt) => literal(jwt, 'Upgrade: websocket\r\nConnection: Upgrade\r\n'),
    'an expectation': (jwt) => literal(jwt, 'Expect: 100-continue\r\n'),
  };
  test.each(Object.entries(refused))('%s is answered 400, once, and closed', async (_, request) => {
    const { jwt } = await world.member('anna');
    const received = await exchange(request(jwt));
    expect(statusOf(received)).toBe(400);
    expect(answersIn(received)).toBe(1);
    expect(received).not.toContain('jwt');
    expect(received).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/);
    expect(bodyOf(received)).toMatchObject({ status: 400, title: expect.any(String), detail: expect.any(String) });
  });

  test('what begins inside another request’s headers is not taken for a request', async () => {
    const { jwt } = await world.member('anna');
    const received = await exchange('POST /api/v1/vehicles HTTP/1.1\r\nHost: a\r\nX: ', literal(jwt));
    expect(statusOf(received)).toBe(400);
    expect(received).not.toContain('jwt');
  });

  test('what begins inside headers that came with another request is not taken for a request', async () => {
    const { jwt } = await world.member('anna');
    const client = await rawClient();
    client.say('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\nPOST /api/v1/vehicles HTTP/1.1\r\nHost: a\r\nX: ');
    await client.receives('"ok"');
    client.say(literal(jwt));
    const received = await client.untilClosed();
    expect(answersIn(received)).toBe(2);
    expect(received).toContain('HTTP/1.1 400 ');
    expect(received).not.toContain('jwt');
  });

  test('what follows another request without waiting for its answer is not taken', async () => {
    const { jwt } = await world.member('anna');
    const received = await exchange(`GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n${literal(jwt)}`);
    expect(received).not.toContain('jwt');
  });

  test('bytes that are no HTTP are answered 400, headers that are too large 431', async () => {
    const noHttp = await exchange('hello\r\n\r\n');
    expect(bodyOf(noHttp)).toMatchObject({ type: 'urn:outrider:problem:invalid-request', status: statusOf(noHttp) });
    expect(statusOf(await exchange(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`))).toBe(431);
  });
});

test('whatever bytes are read, a request is only ever the one request', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'POST /auth/refresh HTTP/1.1\r\n',
      'Host: a\r\n',
      'Authorization refresh: JWT a.b.c\r\n',
      'Content-Length: 3\r\n',
      'Content-Length: 0\r\n',
      '\r\n',
      'abc',
      'GET / HTTP/1.1\r\n',
    ),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
      const text = pieces.join('');
      const result = readLiteralRefresh(Buffer.from(text, 'latin1'));
      if (!(result instanceof Request)) return;
      expect(text.startsWith('POST /auth/refresh HTTP/1.1\r\n')).toBe(true);
      expect(text.match(/authorization refresh:/gi)).toHaveLength(1);
      const body = text.slice(text.indexOf('\r\n\r\n') + 4);
      const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, text.length - body.length))?.[1] ?? '0';
      expect(body).toHaveLength(Number(length));
    }),
    { numRuns: runs(2000) },
  );
});
