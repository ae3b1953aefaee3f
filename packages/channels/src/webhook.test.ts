import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate } from './certificate.fixture.ts';
import type { Lookup } from './lookup.ts';
import { verifyWebhook } from './signature.ts';
import { createWebhookChannel, type WebhookOptions } from './webhook.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const secret = 'whsec_b3V0cmlkZXIta25vd24tYW5zd2VyLWtleS0wMDAwMDE=';
const nowMs = Date.UTC(2026, 0, 1);
const id = '018f2f6e-7c1a-7000-8000-00000000a001';
const body = { type: 'speeding.begin', data: { vehicle: 'Łódź <7>' } };
/** Far in the future: certificates are checked against the machine's own clock. */
const LATER = new Date(Date.UTC(2200, 0, 1));

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Any server on a free port of loopback, gone with all its connections when the test ends. */
async function listen<Server extends net.Server>(server: Server, host = '127.0.0.1', port = 0) {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(port, host);
  await once(server, 'listening');
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, sockets, port: (server.address() as AddressInfo).port };
}

function channel(options: Partial<WebhookOptions> = {}) {
  const made = createWebhookChannel({
    allowPrivateAddresses: true,
    timeoutMs: 10_000,
    maxResponseBytes: 64 * 1024,
    now: () => nowMs,
    ...options,
  });
  cleanups.push(() => made.close());
  return made;
}

/** A name server that says the same of every name. */
function always(...addresses: string[]): Lookup {
  return async () => addresses.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 }));
}

interface Received {
  method?: string;
  url?: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** An endpoint that answers everything alike and remembers what it got. */
async function endpoint(status = 200, headers: http.OutgoingHttpHeaders = {}, text = '') {
  const received: Received[] = [];
  const answer = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url } = request;
    received.push({ method, url, headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(status, headers).end(text);
  };
  return { ...(await listen(http.createServer(answer))), received, answer };
}

describe('a delivery', () => {
  test('is a signed POST of JSON that a receiver can verify', async () => {
    const { port, received } = await endpoint(204);
    const result = await channel().send({ id, url: `http://127.0.0.1:${port}/fleet?key=1`, secret, body });
    expect(result).toEqual({ ok: true, status: 204 });
    expect(received).toHaveLength(1);
    const [request] = received as [Received];
    expect(request.method).toBe('POST');
    expect(request.url).toBe('/fleet?key=1');
    expect(JSON.parse(request.body)).toEqual(body);
    expect(request.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': '1767225600',
    });
    expect(verifyWebhook(request, secret, nowMs)).toBeNull();
  });

  test.each([
    [200, { ok: true, status: 200 }],
    [299, { ok: true, status: 299 }],
    [301, { ok: false, retry: false, status: 301, error: 'The endpoint answered 301: redirects are not followed.' }],
    [304, { ok: false, retry: false, status: 304, error: 'The endpoint answered 304: redirects are not followed.' }],
    [400, { ok: false, retry: false, status: 400, error: 'The endpoint answered 400.' }],
    [404, { ok: false, retry: false, status: 404, error: 'The endpoint answered 404.' }],
    [408, { ok: false, retry: true, status: 408, error: 'The endpoint answered 408.' }],
    [410, { ok: false, retry: false, status: 410, error: 'The endpoint answered 410: it no longer accepts webhooks.' }],
    [425, { ok: false, retry: true, status: 425, error: 'The endpoint answered 425.' }],
    [429, { ok: false, retry: true, status: 429, error: 'The endpoint answered 429.' }],
    [500, { ok: false, retry: true, status: 500, error: 'The endpoint answered 500.' }],
    [503, { ok: false, retry: true, status: 503, error: 'The endpoint answered 503.' }],
    [599, { ok: false, retry: true, status: 599, error: 'The endpoint answered 599.' }],
  ])('that is answered %i', async (status, result) => {
    const { port } = await endpoint(status);
    expect(await channel().send({ id, url: `http://127.0.0.1:${port}/`, secret, body })).toEqual(result);
  });

  test.each([
    ['120', 120_000],
    ['0', 0],
    [new Date(nowMs + 30_000).toUTCString(), 30_000],
    [new Date(nowMs - 30_000).toUTCString(), 0],
    ['999999999', 24 * 3600_000],
    ['soon', undefined],
  ])('that is to wait (Retry-After: %s)', async (retryAfter, retryAfterMs) => {
    const { port } = await endpoint(429, { 'retry-after': retryAfter });
    const result = await channel().send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: true });
    expect('retryAfterMs' in result ? result.retryAfterMs : undefined).toBe(retryAfterMs);
  });

  test('does not follow a redirect', async () => {
    const target = await endpoint();
    const { port, received } = await endpoint(307, { location: `http://127.0.0.1:${target.port}/` });
    const result = await channel().send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: false, status: 307 });
    expect(received).toHaveLength(1);
    expect(target.received).toHaveLength(0);
  });

  test.each([
    ['id', { id: 'a.b' }],
    ['id', { id: 'a\r\nx-evil: 1' }],
    ['secret', { secret: 'secret' }],
    ['URL', { url: 'ftp://127.0.0.1/' }],
    ['user name', { url: 'http://a:b@127.0.0.1/' }],
  ])('with a bad %s is refused for good', async (word, wrong) => {
    const { port, received } = await endpoint();
    const result = await channel().send({ id, url: `http://127.0.0.1:${port}/`, secret, body, ...wrong });
    expect(result).toMatchObject({ ok: false, retry: false, status: null, error: expect.stringContaining(word) });
    expect(received).toHaveLength(0);
  });
});

describe('endpoints inside the own network', () => {
  test.each([
    ['127.0.0.1'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['fd00::1'],
    ['0.0.0.0'],
  ])('are refused when a name leads to %s', async (address) => {
    let connections = 0;
    const server = net.createServer(() => connections++);
    const { port } = await listen(server, '127.0.0.1');
    // One good address among them changes nothing.
    const lookup = always('64:ff9b::1.1.1.1', address);
    const guarded = channel({ allowPrivateAddresses: false, lookup });
    const result = await guarded.send({ id, url: `https://hooks.example.com:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: false, status: null });
    expect(result.ok ? '' : result.error).toMatch(/^The name hooks.example.com leads to an? .* which is not allowed.$/);
    // The error does not reveal what the own name server knows.
    expect(result.ok ? '' : result.error).not.toContain(address);
    expect(connections).toBe(0);
  });

  test('are refused when the URL says them, without asking for a name', async () => {
    let asked = 0;
    const lookup: Lookup = async () => {
      asked++;
      return [{ address: '1.1.1.1', family: 4 }];
    };
    const guarded = channel({ allowPrivateAddresses: false, lookup });
    for (const host of ['127.0.0.1', '2130706433', '[::1]', '[::ffff:a00:1]', 'localhost', '169.254.169.254'])
      expect(await guarded.send({ id, url: `https://${host}/`, secret, body })).toMatchObject({
        ok: false,
        retry: false,
      });
    expect(asked).toBe(0);
  });

  test('are not reached by a name that changes between the check and the connection', async () => {
    // Two servers at one port: the first answer leads to one, every later answer to the other.
    const checked = await endpoint();
    const hidden = await endpoint();
    const port = checked.port;
    await listen(http.createServer(hidden.answer), '127.0.0.2', port);
    let asked = 0;
    const lookup: Lookup = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    const result = await channel({ lookup }).send({ id, url: `http://hooks.example.com:${port}/`, secret, body });
    expect(result).toEqual({ ok: true, status: 200 });
    expect(asked).toBe(1);
    expect(checked.received).toHaveLength(1);
    expect(checked.received[0]?.headers.host).toBe(`hooks.example.com:${port}`);
    expect(hidden.received).toHaveLength(0);
  });

  test('each attempt checks anew: a name that was good and turned is refused', async () => {
    const { port, received } = await endpoint();
    let addresses = always('127.0.0.1');
    const lookup: Lookup = (hostname) => addresses(hostname);
    const open = channel({ lookup });
    expect((await open.send({ id, url: `http://hooks.example.com:${port}/`, secret, body })).ok).toBe(true);
    // Nothing listens there; a name that was remembered would still be delivered to.
    addresses = always();
    const result = await open.send({ id, url: `http://hooks.example.com:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: true, error: 'The name hooks.example.com has no address.' });
    expect(received).toHaveLength(1);
  });
});

describe('TLS', () => {
  const good = makeCertificate('hooks.example.com', LATER);
  /** This process trusts the certificate as if an authority had signed it. */
  function trust(cert: string) {
    const before = tls.getCACertificates('default');
    tls.setDefaultCACertificates([...before, cert]);
    cleanups.push(() => tls.setDefaultCACertificates(before));
  }

  test('is spoken to the name of the URL, at the address that was checked', async () => {
    trust(good.cert);
    const { answer, received } = await endpoint();
    const names: unknown[] = [];
    const server = https.createServer(good, answer);
    server.on('secureConnection', (socket: tls.TLSSocket) => names.push(socket.servername));
    const { port } = await listen(server);
    const open = channel({ lookup: always('127.0.0.1') });
    const result = await open.send({ id, url: `https://hooks.example.com:${port}/x`, secret, body });
    expect(result).toEqual({ ok: true, status: 200 });
    expect(names).toEqual(['hooks.example.com']);
    expect(received[0]?.headers.host).toBe(`hooks.example.com:${port}`);
  });

  test.each([
    ['nobody trusts', good, false, 'hooks.example.com', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['is for another name', good, true, 'other.example.com', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'has expired',
      makeCertificate('hooks.example.com', new Date(Date.UTC(2020, 0, 1))),
      true,
      'hooks.example.com',
      'CERT_HAS_EXPIRED',
    ],
  ])('with a certificate that %s is a final failure', async (_what, certificate, trusted, name, code) => {
    if (trusted) trust(certificate.cert);
    const { answer, received } = await endpoint();
    const { port } = await listen(https.createServer(certificate, answer));
    const open = channel({ lookup: always('127.0.0.1') });
    const result = await open.send({ id, url: `https://${name}:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: false, status: null });
    expect(result.ok ? '' : result.error).toMatch(/^No secure connection: /);
    expect(result.ok ? '' : result.error).toContain(code);
    expect(received).toHaveLength(0);
  });

  test('to a server that speaks none is a final failure', async () => {
    const { port } = await listen(net.createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    const result = await channel().send({ id, url: `https://127.0.0.1:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: false, error: expect.stringMatching(/^No secure connection: /) });
  });
});

describe('what may be tried again', () => {
  test('a name that is not known, or not now', async () => {
    const lookup: Lookup = async () => {
      throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    };
    expect(await channel({ lookup }).send({ id, url: 'https://hooks.example.com/', secret, body })).toEqual({
      ok: false,
      retry: true,
      status: null,
      error: 'The name hooks.example.com could not be resolved (ENOTFOUND).',
    });
  });

  test('a connection that is refused', async () => {
    const { server, port } = await listen(net.createServer());
    server.close();
    const open = channel({ lookup: always('127.0.0.1', '127.0.0.2') });
    const result = await open.send({ id, url: `http://hooks.example.com:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: true, error: 'The request failed (ECONNREFUSED).' });
  });

  test('a connection that ends, or talks nonsense, or changes the protocol', async () => {
    for (const reply of [
      '',
      'SSH-2.0-x\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ]) {
      const { port } = await listen(net.createServer((socket) => socket.once('data', () => socket.end(reply))));
      const result = await channel().send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
      expect(result).toMatchObject({ ok: false, retry: true, status: null });
    }
  });

  test('a name server, a server or an answer that never comes', async () => {
    const lookup: Lookup = () => new Promise(() => {});
    const slow = await channel({ timeoutMs: 50, lookup }).send({ id, url: 'https://hooks.example.com/', secret, body });
    expect(slow).toMatchObject({ ok: false, retry: true, error: expect.stringContaining('not resolved in time') });

    // Silent, or busy with a header that never ends.
    for (const start of ['', 'HTTP/1.1 200 OK\r\nx-a: ']) {
      const { port, sockets } = await listen(net.createServer((socket) => socket.resume().write(start)));
      const result = await channel({ timeoutMs: 50 }).send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
      expect(result).toMatchObject({ ok: false, retry: true, error: 'No answer within 0.05 seconds.' });
      await expect.poll(() => sockets.size, PATIENCE).toBe(0);
    }
  });
});

describe('the body of an answer', () => {
  test('is dropped, and ends the connection when it is too long', async () => {
    const CHUNKS = 4096;
    let sent = 0;
    const server = http.createServer((request, response) => {
      request.resume();
      response.writeHead(200);
      const more = () => {
        while (sent < CHUNKS && !response.destroyed) {
          sent++;
          if (!response.write(Buffer.alloc(16 * 1024))) return response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const { port, sockets } = await listen(server);
    const open = channel({ maxResponseBytes: 1024 });
    const result = await open.send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
    // The answer was there: it was delivered.
    expect(result).toEqual({ ok: true, status: 200 });
    await expect.poll(() => sockets.size, PATIENCE).toBe(0);
    // What was under way when the connection ended is far from all of it.
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(CHUNKS);
  });

  test('may never end: the status decides', async () => {
    const server = http.createServer((_request, response) => response.writeHead(500).write('so far'));
    const { port, sockets } = await listen(server);
    const result = await channel({ timeoutMs: 1000 }).send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
    expect(result).toMatchObject({ ok: false, retry: true, status: 500 });
    await expect.poll(() => sockets.size, PATIENCE).toBe(0);
  });
});

describe('connections', () => {
  test('are kept for the next delivery', async () => {
    const { server, port, received } = await endpoint(200, {}, 'thank you');
    let connections = 0;
    server.on('connection', () => connections++);
    const open = channel();
    for (let count = 0; count < 5; count++)
      expect((await open.send({ id, url: `http://127.0.0.1:${port}/`, secret, body })).ok).toBe(true);
    expect(received).toHaveLength(5);
    expect(connections).toBe(1);
  });

  test('that died while they lay idle are replaced at once', async () => {
    let requests = 0;
    let connections = 0;
    // Answers the first request of a connection and cuts it off at the second.
    const server = http.createServer((request, response) => {
      requests++;
      request.resume();
      const socket = request.socket as net.Socket & { used?: boolean };
      if (socket.used) return socket.resetAndDestroy();
      socket.used = true;
      response.end();
    });
    server.on('connection', () => connections++);
    const { port } = await listen(server);
    const open = channel();
    for (let count = 0; count < 3; count++)
      expect(await open.send({ id, url: `http://127.0.0.1:${port}/`, secret, body })).toEqual({
        ok: true,
        status: 200,
      });
    expect(connections).toBe(3);
    expect(requests).toBe(5);
  });

  test('to one host are few, however much there is to deliver', async () => {
    let most = 0;
    const { port, sockets, received } = await endpoint();
    const open = channel();
    const results = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const result = await open.send({ id, url: `http://127.0.0.1:${port}/`, secret, body });
        most = Math.max(most, sockets.size);
        return result;
      }),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect(received).toHaveLength(200);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(8);
  });

  test('that are not made in time end long before an answer would have to', async () => {
    // Takes the connection, and never says a word of TLS.
    const server = net.createServer();
    const { port } = await listen(server);
    const result = await channel({ connectTimeoutMs: 50 }).send({
      id,
      url: `https://127.0.0.1:${port}/`,
      secret,
      body,
    });
    expect(result).toEqual({ ok: false, retry: true, error: 'No connection within 0.05 seconds.', status: null });
  });

  test('to names that have not proven to answer hold up no lookup of those that have', async () => {
    const { port } = await endpoint();
    const lookup: Lookup = (name) =>
      name.startsWith('silent') ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const open = channel({ lookup, timeoutMs: 1000 });
    const send = (host: string, isUnproven: boolean) =>
      open.send({ id, url: `http://${host}:${port}/`, secret, body, isUnproven });
    const silent = ['silent-1.example.org', 'silent-2.example.org'].map((host) => send(host, true));
    expect(await send('live.example.org', false)).toEqual({ ok: true, status: 200 });
    for (const result of await Promise.all(silent)) expect(result).toMatchObject({ ok: false, status: null });
  });

  test('that lie idle are few over all hosts', async () => {
    const { port, sockets, received } = await endpoint();
    const open = channel({ lookup: always('127.0.0.1') });
    for (let host = 0; host < 100; host++)
      await open.send({ id, url: `http://h${host}.example.com:${port}/`, secret, body });
    expect(received).toHaveLength(100);
    await expect.poll(() => sockets.size, PATIENCE).toBe(64);
  });

  test('too many deliveries at once are sent back for later', async () => {
    const { port } = await listen(net.createServer());
    const open = channel({ timeoutMs: 20 });
    const results = await Promise.all(
      Array.from({ length: 1100 }, () => open.send({ id, url: `http://127.0.0.1:${port}/`, secret, body })),
    );
    const turnedAway = results.filter((result) => !result.ok && result.error === 'Too many webhooks are waiting.');
    expect(turnedAway).toHaveLength(1100 - 1064);
    expect(turnedAway.every((result) => !result.ok && result.retry)).toBe(true);
  });

  test('go straight to the endpoint, whatever proxy the environment names', async () => {
    const proxy = await endpoint(200);
    const { port, received } = await endpoint(202);
    const script = `
      const { createWebhookChannel } = await import(${JSON.stringify(new URL('./webhook.ts', import.meta.url).href)});
      const channel = createWebhookChannel({ allowPrivateAddresses: true, timeoutMs: 10000, maxResponseBytes: 10, now: Date.now });
      const url = 'http://127.0.0.1:${port}/';
      console.log(JSON.stringify(await channel.send({ id: 'a', url, secret: '${secret}', body: {} })));
      await channel.close();`;
    const address = `http://127.0.0.1:${proxy.port}`;
    const env = {
      ...process.env,
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: address,
      http_proxy: address,
      NO_PROXY: '',
      no_proxy: '',
    };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(JSON.parse(stdout)).toEqual({ ok: true, status: 202 });
    expect(received).toHaveLength(1);
    expect(proxy.received).toHaveLength(0);
  });
});

test('closing waits for what is under way, and takes nothing more', async () => {
  let release = () => {};
  const server = http.createServer((request, response) => {
    request.resume();
    release = () => response.end();
  });
  const { port, sockets } = await listen(server);
  const open = channel();
  const url = `http://127.0.0.1:${port}/`;
  const arrived = once(server, 'request');
  const underWay = open.send({ id, url, secret, body });
  await arrived;
  let closed = false;
  const closing = open.close().then(() => {
    closed = true;
  });
  const late = { ok: false, retry: true, status: null, error: 'The service is stopping.' };
  expect(await open.send({ id, url, secret, body })).toEqual(late);
  expect(closed).toBe(false);
  release();
  expect(await underWay).toEqual({ ok: true, status: 200 });
  await closing;
  await expect.poll(() => sockets.size, PATIENCE).toBe(0);
});
