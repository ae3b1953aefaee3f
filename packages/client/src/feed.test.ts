import { expect, test } from 'vitest';
import { Client } from './client.ts';
import { ApiError } from './errors.ts';

type Answer = string | Response | Error;

/** A client of a service that answers each call with the next of these; a text is a stream that then breaks off. */
function clientOf(answers: Answer[]) {
  const asked: URL[] = [];
  const accepted: (string | null)[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    asked.push(new URL(url));
    accepted.push(new Headers(init.headers).get('accept'));
    const answer = answers.shift();
    if (answer === undefined)
      return new Promise((_, reject) =>
        init.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))),
      );
    if (answer instanceof Error) throw answer;
    return typeof answer === 'string' ? new Response(brokenOff(answer)) : answer;
  }) as typeof globalThis.fetch;
  return { asked, accepted, client: new Client({ baseUrl: 'https://fleet.test', fetch }) };
}

/** In pieces that end in the middle of lines and of characters. */
function brokenOff(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.error(new TypeError('terminated'));
      controller.enqueue(bytes.slice(at, at + 7));
      at += 7;
    },
  });
}
const line = (nth: number) => `${JSON.stringify({ type: 'event', id: `é${nth}`, cursor: `c${nth}` })}\n`;
const heartbeat = (cursor: string) => `${JSON.stringify({ type: 'heartbeat', cursor, lagSeconds: 3 })}\n`;
const refusal = (status: number, more = {}) =>
  new Response(JSON.stringify({ type: 't', title: 't', status, detail: 'd', ...more }), { status });
const cursorsOf = (asked: readonly URL[]) => asked.map(({ searchParams }) => searchParams.get('cursor'));
/** No pause. */
const random = () => -1;

async function take(client: Client, count: number, options: Parameters<Client['feed']>[1] = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const event of client.feed('events', { random, ...options })) {
    ids.push(event.id);
    if (ids.length === count) break;
  }
  return ids;
}

test('goes on behind the last message or heartbeat wherever the connection breaks: each comes once', async () => {
  const { client, asked, accepted } = clientOf([
    heartbeat('c0') + line(1) + line(2) + line(3).slice(0, -9),
    new TypeError('fetch failed'),
    line(3) + heartbeat('c5'),
    `${JSON.stringify({ type: 'end', status: 503, detail: 'stopping' })}\n`,
    line(6) + line(7),
  ]);
  expect(await take(client, 5)).toEqual(['é1', 'é2', 'é3', 'é6', 'é7']);
  expect(cursorsOf(asked)).toEqual([null, 'c2', 'c2', 'c5', 'c5']);
  expect(asked.every(({ pathname }) => pathname === '/api/v1/feed/events')).toBe(true);
  expect(new Set(accepted)).toEqual(new Set(['application/x-ndjson']));
});

test('begins where it is asked to, and says how far it is', async () => {
  const { client, asked } = clientOf([heartbeat('c4') + line(5)]);
  const heartbeats: object[] = [];
  await take(client, 1, { from: 'earliest', onHeartbeat: (each) => heartbeats.push(each) });
  expect(asked[0]?.search).toBe('?from=earliest');
  expect(heartbeats).toEqual([{ cursor: 'c4', lagSeconds: 3 }]);
  const other = clientOf([line(5)]);
  await take(other.client, 1, { cursor: 'c4', from: 'earliest' });
  expect(other.asked[0]?.search).toBe('?cursor=c4');
});

test('tries again after what passes, and throws what does not', async () => {
  const passing = clientOf([refusal(503), refusal(500), line(1)]);
  expect(await take(passing.client, 1)).toEqual(['é1']);
  expect(passing.asked).toHaveLength(3);
  const resumption = { cursor: 'c9', from: '2026-01-08T12:00:00.000Z' };
  const expired = clientOf([line(1), refusal(410, { resumption })]);
  const error = await take(expired.client, 2).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error.problem.resumption).toEqual(resumption);
  await expect(take(clientOf([refusal(401)]).client, 1)).rejects.toThrow(ApiError);
});

test('an error of whoever reads ends it, and is theirs', async () => {
  const { client, asked } = clientOf([line(1) + line(2)]);
  const reading = (async () => {
    for await (const _ of client.feed('events', { random })) throw new Error('mine');
  })();
  await expect(reading).rejects.toThrow('mine');
  expect(asked).toHaveLength(1);
});

test('a signal ends it, connected or not, without an error', async () => {
  const ending = new AbortController();
  const { client } = clientOf([line(1)]);
  const ids: string[] = [];
  for await (const { id } of client.feed('events', { random, signal: ending.signal })) {
    ids.push(id);
    ending.abort();
  }
  expect(ids).toEqual(['é1']);
  const before = clientOf([]);
  for await (const _ of before.client.feed('positions', { signal: AbortSignal.abort() })) throw new Error('nothing');
  expect(before.asked).toEqual([]);
});

test('a connection that stays silent is given up', async () => {
  const asked: URL[] = [];
  let calls = 0;
  const fetch = (async (url: string, init: RequestInit) => {
    asked.push(new URL(url));
    if (calls++ > 0) return new Response(brokenOff(line(1)));
    const stream = new ReadableStream({
      start(controller) {
        init.signal?.addEventListener('abort', () => controller.error(new DOMException('', 'AbortError')));
      },
    });
    return new Response(stream);
  }) as typeof globalThis.fetch;
  const other = new Client({ baseUrl: 'https://fleet.test', fetch });
  expect(await take(other, 1, { silenceMs: 5 })).toEqual(['é1']);
  expect(asked).toHaveLength(2);
});
