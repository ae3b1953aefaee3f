import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { World } from '../api.fixture.ts';
import { listenApi } from './listen.ts';

const PLACE = { host: '127.0.0.1', port: 0 };

test('it is served over HTTP, and counts by the address of the connection', async () => {
  const world = await World.open();
  const http = await listenApi(world.api, PLACE);
  const answer = await fetch(`http://127.0.0.1:${http.port}/auth/login?jwt=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ login: 'nobody', password: 'nothing at all' }),
  });
  expect(answer.status).toBe(401);
  expect(await answer.json()).toMatchObject({ type: 'urn:outrider:problem:wrong-credentials' });
  expect(await world.hub.hit('failed-logins:ip:127.0.0.1', 60_000, world.nowMs)).toMatchObject({ hits: 2 });
  await http.close();
  await world.close();
});

test('a request in hand is answered before it closes, and no new one is taken', async () => {
  let answer: () => void = () => {};
  const asked = Promise.withResolvers<void>();
  const http = await listenApi(
    {
      fetch: () =>
        new Promise<Response>((resolve) => {
          answer = () => resolve(new Response('done'));
          asked.resolve();
        }),
    },
    PLACE,
  );
  const url = `http://127.0.0.1:${http.port}/`;
  const inHand = fetch(url);
  await asked.promise;
  const closed = http.close();
  await expect(fetch(url)).rejects.toThrow();
  answer();
  expect(await (await inHand).text()).toBe('done');
  await closed;
});

test('a connection that only waits does not hold up the end', async () => {
  const http = await listenApi({ fetch: () => new Response('ok') }, PLACE);
  const socket = connect(http.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  await http.close(50);
});

test.each([
  ['with its length', 'Content-Length: 500\r\n\r\n{"login":'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n9\r\n{"login":\r\n'],
  ['by a coding that there is none of', 'Transfer-Encoding: d\r\n\r\n{"login":'],
])('a client that breaks off in the middle of a body %s is no failure of the service', async (_, rest) => {
  const world = await World.open();
  const answered = Promise.withResolvers<Response>();
  const fetch: typeof world.api.fetch = async (request, env) => {
    const response = await world.api.fetch(request, env);
    answered.resolve(response);
    return response;
  };
  const http = await listenApi({ fetch }, PLACE);
  const arrived = once(http.server, 'request');
  const socket = connect(http.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`POST /auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${rest}`);
  await arrived;
  socket.end();
  expect((await answered.promise).status).toBe(400);
  expect(world.logged.flat()).not.toContain('a request failed');
  socket.destroy();
  await http.close();
  await world.close();
});

test('a port that is taken is an error', async () => {
  const first = await listenApi({ fetch: () => new Response('ok') }, PLACE);
  await expect(listenApi({ fetch: () => new Response('ok') }, { ...PLACE, port: first.port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await first.close();
});
