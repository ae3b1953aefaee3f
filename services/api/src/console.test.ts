import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { World } from './api.fixture.ts';
import { consolePages } from './console.ts';
import { acceptedEncoding } from './http/static-files.ts';

const INDEX = '<!doctype html><title>Outrider</title><script type="module" src="/assets/app-5f2c8a3e.js"></script>';
const SHARE = '<!doctype html><title>Shared</title>';
const SCRIPT = `console.log(${JSON.stringify('vehicle '.repeat(1000))});`;
const STYLE = 'body { margin: 0 }'.repeat(100);

const folder = mkdtempSync(join(tmpdir(), 'console-'));
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'index.html'), INDEX);
writeFileSync(join(folder, 'share.html'), SHARE);
writeFileSync(join(folder, 'world.mbtiles'), 'not for the public');
writeFileSync(join(folder, 'assets', 'app-5f2c8a3e.js'), SCRIPT);
writeFileSync(join(folder, 'assets', 'app-5f2c8a3e.js.br'), brotliCompressSync(SCRIPT));
writeFileSync(join(folder, 'assets', 'base-77aa01bc.css'), STYLE);

let world: World;
beforeAll(async () => {
  world = await World.open({ consoleDir: folder });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function bytesOf(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await world.api.fetch(new Request(`http://outrider.test${path}`, { method, headers }));
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('the page, and the files that it loads: those with a hash in their name are kept for good', async () => {
  const page = await bytesOf('/');
  expect([page.status, page.bytes.toString()]).toEqual([200, INDEX]);
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const script = await bytesOf('/assets/app-5f2c8a3e.js');
  expect([script.status, script.bytes.toString()]).toEqual([200, SCRIPT]);
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('x-content-type-options')).toBe('nosniff');
});

test('nothing is taken from another origin, and nothing that is written into a page runs', async () => {
  const policy = (await bytesOf('/')).headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
    expect(policy.split('; ')).toContain(part);
  expect(policy).not.toMatch(/unsafe-|\*|https?:/);
});

test('views of the console are the page, where a browser opens them; a program gets 404', async () => {
  for (const path of ['/vehicles', '/vehicles/019a', '/reports/trips']) {
    const { status, bytes } = await bytesOf(path, browser);
    expect([status, bytes.toString()], path).toEqual([200, INDEX]);
    expect((await bytesOf(path)).status, path).toBe(404);
    expect((await bytesOf(path, browser, 'POST')).status, path).toBe(404);
  }
});

test('a share link is a page of its own, without a login, that no search engine lists and no other page learns of', async () => {
  for (const headers of [browser, {}]) {
    const page = await bytesOf('/s/Jm3vXQ0c5Yl8bTz1oWkR9w', headers);
    expect([page.status, page.bytes.toString()]).toEqual([200, SHARE]);
    expect(page.headers.get('x-robots-tag')).toBe('noindex');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
  expect((await bytesOf('/', browser)).headers.get('x-robots-tag')).toBeNull();
  expect((await bytesOf('/s/a/b', browser)).status).toBe(404);
});

test('paths of other parts stay theirs, and what is missing is missing', async () => {
  for (const path of ['/api/v1/nothing', '/service/nothing', '/auth/nothing', '/assets/gone-00.js', '/maps/x/0/0/0'])
    expect((await bytesOf(path, browser)).status, path).toBe(404);
  for (const path of ['/api/v1/me', '/docs/', '/openapi.json', '/health/live', '/metrics', '/live'])
    expect((await bytesOf(path, browser)).bytes.toString(), path).not.toBe(INDEX);
});

test('only files that browsers load are served, and none from outside the folder', async () => {
  for (const path of ['/world.mbtiles', '/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2fx.js', '/.env'])
    expect((await bytesOf(path, browser)).bytes.toString(), path).not.toContain('not for the public');
  expect((await bytesOf('/world.mbtiles', browser)).status).toBe(404);
});

describe('compression', () => {
  test('the form made by the build, or one made on demand; each with a tag of its own', async () => {
    const script = '/assets/app-5f2c8a3e.js';
    const plain = await bytesOf(script);
    const brotli = await bytesOf(script, { 'accept-encoding': 'gzip, deflate, br' });
    expect(brotli.headers.get('content-encoding')).toBe('br');
    expect(brotli.headers.get('vary')).toBe('Accept-Encoding');
    expect(brotli.bytes.equals(brotliCompressSync(SCRIPT))).toBe(true);
    const zipped = await bytesOf(script, { 'accept-encoding': 'gzip' });
    expect(gunzipSync(zipped.bytes).toString()).toBe(SCRIPT);
    const style = await bytesOf('/assets/base-77aa01bc.css', { 'accept-encoding': 'br' });
    expect(brotliDecompressSync(style.bytes).toString()).toBe(STYLE);
    expect(new Set([plain, brotli, zipped].map(({ headers }) => headers.get('etag'))).size).toBe(3);
    expect((await bytesOf('/', { 'accept-encoding': 'br' })).headers.get('content-encoding')).toBeNull();
  });

  test('a client that has it gets nothing again', async () => {
    const { headers } = await bytesOf('/assets/base-77aa01bc.css', { 'accept-encoding': 'br' });
    const again = await bytesOf('/assets/base-77aa01bc.css', {
      'accept-encoding': 'br',
      'if-none-match': headers.get('etag') ?? '',
    });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    expect((await bytesOf('/assets/base-77aa01bc.css', { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(
      200,
    );
  });

  test('what a client accepts', () => {
    for (const [header, encoding] of [
      [undefined, null],
      ['', null],
      ['identity', null],
      ['gzip', 'gzip'],
      ['gzip;q=1.0, br;q=0.5', 'br'],
      ['br;q=0, gzip', 'gzip'],
      ['BR', 'br'],
      ['br; q=0.000', null],
      ['*', null],
    ] as const)
      expect(acceptedEncoding(header), header).toBe(encoding);
  });
});

test('loading it costs no calls, also while the address is blocked', async () => {
  for (let n = 1; n <= 70; n += 1) await world.call('GET', '/.well-known/jwks.json', { from: '192.0.2.9' });
  expect((await world.call('GET', '/.well-known/jwks.json', { from: '192.0.2.9' })).status).toBe(429);
  const { status, headers } = await world.call('GET', '/', { from: '192.0.2.9' });
  expect([status, headers.get('ratelimit')]).toEqual([200, null]);
});

test('a folder without a console is refused', () => {
  expect(() => consolePages(join(folder, 'assets'), new Set())).toThrow('holds no index.html');
  expect(() => consolePages(join(folder, 'none'), new Set())).toThrow('none');
});

test('an online map widens the content security policy by its origin alone', async () => {
  const map = { kind: 'raster', url: 'https://tiles.example/{z}/{x}/{y}.png', attribution: null } as const;
  const onlineMap = { ...map, origin: 'https://tiles.example' };
  const other = await World.open({ consoleDir: folder, onlineMap });
  try {
    const ask = (path: string) =>
      other.api.fetch(new Request(`http://outrider.test${path}`), {
        incoming: { socket: { remoteAddress: '192.0.2.7' } } as never,
      });
    const policy = (await ask('/')).headers.get('content-security-policy') ?? '';
    const widened = policy.split('; ').filter((part) => part.includes('tiles.example'));
    expect(widened).toEqual([
      "img-src 'self' data: blob: https://tiles.example",
      "connect-src 'self' https://tiles.example",
    ]);
    expect(await (await ask('/maps')).json()).toMatchObject({ online: map });
  } finally {
    await other.close();
  }
});
