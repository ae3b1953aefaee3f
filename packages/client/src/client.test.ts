import { expect, test, vi } from 'vitest';
import { Client } from './client.ts';
import { ApiError, ConnectionError } from './errors.ts';

type Sent = { url: string; init: RequestInit };
function clientWith(respond: (sent: Sent) => Response, options = {}) {
  const sent: Sent[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return respond({ url, init });
  }) as typeof globalThis.fetch;
  return { sent, client: new Client({ baseUrl: 'https://fleet.test', fetch, ...options }) };
}
const json = (body: unknown, init: ResponseInit = {}, type = 'application/json') =>
  new Response(JSON.stringify(body), { ...init, headers: { 'content-type': type, ...init.headers } });

test('fills in the path and the query, and reads JSON', async () => {
  const { sent, client } = clientWith(() => json({ id: 'a/b' }));
  expect(await client.get('/api/v1/vehicles/{id}', { path: { id: 'a/b' } })).toEqual({ id: 'a/b' });
  await client.get('/api/v1/vehicles', { query: { limit: 10, cursor: undefined } as never });
  expect(sent.map(({ url }) => url)).toEqual([
    'https://fleet.test/api/v1/vehicles/a%2Fb',
    'https://fleet.test/api/v1/vehicles?limit=10',
  ]);
});

test('a patch is a merge patch, and carries the token and the entity tag', async () => {
  const { sent, client } = clientWith(() => json({}), { token: () => 'a.b.c' });
  await client.patch('/api/v1/vehicles/{id}', {
    path: { id: '1' },
    body: { name: 'Van' },
    headers: { 'If-Match': '"3"' },
  });
  const headers = new Headers(sent[0]?.init.headers);
  expect(headers.get('content-type')).toBe('application/merge-patch+json');
  expect(headers.get('authorization')).toBe('JWT a.b.c');
  expect(headers.get('if-match')).toBe('"3"');
  expect(sent[0]?.init.body).toBe('{"name":"Van"}');
});

test('an API key goes with each call, in place of a token', async () => {
  const { sent, client } = clientWith(() => json({}), { apiKey: 'outrider_1_2', token: () => 'a.b.c' });
  await client.get('/api/v1/me');
  expect(new Headers(sent[0]?.init.headers).get('authorization')).toBe('Bearer outrider_1_2');
});

test('a file is sent as it is, with its type', async () => {
  const { sent, client } = clientWith(() => json({ created: 1 }));
  const body = new Blob(['name\nVan\n'], { type: 'text/csv' });
  await client.post('/api/v1/vehicles/import', { query: { dryRun: 'true' }, body });
  expect(new Headers(sent[0]?.init.headers).get('content-type')).toBe('text/csv');
  expect(sent[0]?.init.body).toBe(body);
});

test('without a token it sends none: the cookie of the session is the browser’s', async () => {
  const { sent, client } = clientWith(() => new Response(null, { status: 204 }));
  expect(await client.post('/auth/logout')).toBeUndefined();
  expect(new Headers(sent[0]?.init.headers).has('authorization')).toBe(false);
  expect(sent[0]?.init.credentials).toBe('same-origin');
});

test('a refusal is thrown with its problem, errors by field and time to wait', async () => {
  const problem = {
    type: 'urn:outrider:problem:invalid-request',
    title: 'Bad',
    status: 400,
    detail: 'two fields',
    errors: [{ pointer: '/name', detail: 'is too long' }, { detail: 'elsewhere' }],
  };
  const onError = vi.fn();
  const headers = { 'retry-after': '7' };
  const { client } = clientWith(() => json(problem, { status: 400, headers }, 'application/problem+json'), { onError });
  const error = await client.get('/api/v1/me').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 400, message: 'two fields', retryAfterSeconds: 7 });
  expect((error as ApiError).at('/name')).toEqual(['is too long']);
  expect((error as ApiError).at('/plate')).toEqual([]);
  expect(onError).toHaveBeenCalledWith(error);
});

test('a read over the limit of calls is repeated after its time, a write is refused', async () => {
  const onLimit = vi.fn(() => true);
  const limited = () => json({ detail: 'too many calls' }, { status: 429, headers: { 'retry-after': '0.01' } });
  let calls = 0;
  const { sent, client } = clientWith(() => (++calls % 3 === 0 ? json({ id: 'x' }) : limited()), { onLimit });
  expect(await client.get('/api/v1/me')).toEqual({ id: 'x' });
  expect(sent).toHaveLength(3);
  expect(onLimit.mock.calls).toEqual([[0.01], [0.01]]);
  await expect(client.post('/auth/logout')).rejects.toMatchObject({ status: 429 });
  expect(sent).toHaveLength(4);
});

test('a read that waits for the limit of calls ends with its signal', async () => {
  const aborted = new AbortController();
  const limited = () => json({ detail: 'too many calls' }, { status: 429, headers: { 'retry-after': '60' } });
  const { sent, client } = clientWith(limited, {
    onLimit: () => {
      queueMicrotask(() => aborted.abort());
      return true;
    },
  });
  await expect(client.get('/api/v1/me', { signal: aborted.signal })).rejects.toThrow(/abort/);
  expect(sent).toHaveLength(1);
});

test('the page of a proxy becomes a problem too', async () => {
  const { client } = clientWith(() => new Response('<h1>Bad gateway</h1>', { status: 502 }));
  await expect(client.get('/api/v1/me')).rejects.toMatchObject({
    status: 502,
    problem: { type: 'urn:outrider:problem:unavailable' },
  });
});

test('a service that is not reached is told from one that refuses, and from an aborted call', async () => {
  const failing = (cause: Error) =>
    new Client({ fetch: (() => Promise.reject(cause)) as unknown as typeof globalThis.fetch });
  await expect(failing(new TypeError('fetch failed')).get('/api/v1/me')).rejects.toBeInstanceOf(ConnectionError);
  const signal = AbortSignal.abort();
  const aborted = new DOMException('aborted', 'AbortError');
  await expect(failing(aborted as Error).get('/api/v1/me', { signal })).rejects.toBe(aborted);
});

test('reads a list page after page', async () => {
  const lists: Record<string, unknown> = {
    'https://fleet.test/api/v1/vehicles': { items: [1, 2], nextCursor: 'n' },
    'https://fleet.test/api/v1/vehicles?cursor=n': { items: [3], nextCursor: null },
  };
  const { client } = clientWith(({ url }) => json(lists[url]));
  const seen: unknown[] = [];
  for await (const items of client.pages((cursor) =>
    client.get('/api/v1/vehicles', { query: cursor === undefined ? {} : { cursor } }),
  ))
    seen.push(...items);
  expect(seen).toEqual([1, 2, 3]);
});

test('reads a list whole, and refuses one that is not, or breaks off', async () => {
  const lines = (text: string, type = 'application/x-ndjson') =>
    new Response(text, { headers: { 'content-type': type } });
  const { client, sent } = clientWith(() => lines('{"id":"a"}\n{"id":"b"}\n'), { token: () => 'a.b.c' });
  expect(await Array.fromAsync(client.items('/api/v1/vehicles', { query: { q: 'van' } }))).toEqual([
    { id: 'a' },
    { id: 'b' },
  ]);
  expect(sent[0]?.url).toBe('https://fleet.test/api/v1/vehicles?q=van');
  expect(new Headers(sent[0]?.init.headers).get('accept')).toBe('application/x-ndjson');

  const older = clientWith(() => json({ items: [], nextCursor: null }));
  await expect(Array.fromAsync(older.client.items('/api/v1/vehicles'))).rejects.toBeInstanceOf(ConnectionError);
  const broken = clientWith(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":"a"}\n{"id"')),
          pull: (controller) => controller.error(new TypeError('terminated')),
        }),
        { headers: { 'content-type': 'application/x-ndjson' } },
      ),
  );
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const item of broken.client.items('/api/v1/vehicles')) seen.push(item);
  })();
  await expect(reading).rejects.toBeInstanceOf(ConnectionError);
  expect(seen).toEqual([{ id: 'a' }]);
});
