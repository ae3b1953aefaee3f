import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { createMetricsAccess } from './metrics-access.ts';

const TOKEN = 'a-token-of-Prometheus';

async function isShown(token: string | null, peer: string | undefined, headers: Record<string, string> = {}) {
  const access = createMetricsAccess(async () => 'counted 1', token);
  return 'text' in (await access.read({ peer, header: (name) => headers[name] }));
}

test('metrics are shown to callers on the same machine, by the address of the connection alone', async () => {
  for (const peer of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
    expect(await isShown(null, peer)).toBe(true);
  for (const peer of ['192.0.2.1', '10.0.0.1', '::2', '::ffff:10.0.0.1', 'unknown', undefined]) {
    expect(await isShown(null, peer)).toBe(false);
    expect(await isShown(null, peer, { 'x-forwarded-for': '127.0.0.1' })).toBe(false);
  }
});

test('a proxy on the same machine does not show them to the callers that it passes on', async () => {
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])
    expect(await isShown(null, '127.0.0.1', { [name]: '203.0.113.5' })).toBe(false);
});

test('others need the token', async () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  expect(await isShown(TOKEN, '192.0.2.1', bearer(TOKEN))).toBe(true);
  expect(await isShown(TOKEN, '127.0.0.1', { ...bearer(TOKEN), 'x-forwarded-for': '203.0.113.5' })).toBe(true);
  for (const headers of [
    {},
    bearer(`${TOKEN}x`),
    bearer(''),
    { authorization: TOKEN },
    { authorization: `JWT ${TOKEN}` },
  ])
    expect(await isShown(TOKEN, '192.0.2.1', headers)).toBe(false);
  expect(await isShown(null, '192.0.2.1', bearer('null'))).toBe(false);
});

test('they are written once for all callers that come within a second, and never for one that is refused', async () => {
  let written = 0;
  const clock = new VirtualClock();
  const write = async () => {
    await clock.sleep(5);
    return `written ${++written}`;
  };
  const access = createMetricsAccess(write, null, clock);
  const reads = async (peer: string) => {
    const answers = Promise.all(Array.from({ length: 60 }, () => access.read({ peer, header: () => undefined })));
    await clock.advance(5);
    return answers;
  };
  await reads('192.0.2.1');
  expect(written).toBe(0);
  for (let round = 0; round < 3; round++)
    for (const answer of await reads('127.0.0.1')) expect(answer).toEqual({ text: 'written 1' });
  await clock.advance(1000);
  for (const answer of await reads('127.0.0.1')) expect(answer).toEqual({ text: 'written 2' });
});

test('what could not be written is written again for the next caller', async () => {
  let fails = true;
  const access = createMetricsAccess(async () => {
    if (fails) throw new Error('a thread does not answer');
    return 'written';
  }, null);
  const read = () => access.read({ peer: '127.0.0.1', header: () => undefined });
  await expect(read()).rejects.toThrow('a thread does not answer');
  fails = false;
  expect(await read()).toEqual({ text: 'written' });
});
