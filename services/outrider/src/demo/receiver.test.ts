import { randomBytes } from 'node:crypto';
import { createWebhookSecret, signWebhook } from '@outrider/channels';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DemoReceiver, startReceiver } from './receiver.ts';

const NOW_MS = Date.UTC(2026, 0, 15, 12);
let receiver: DemoReceiver;
beforeEach(async () => {
  receiver = await startReceiver(randomBytes, () => NOW_MS);
});
afterEach(() => receiver.close());

async function send(body: string, secret: string): Promise<number> {
  const timestamp = NOW_MS / 1000;
  const headers = {
    'webhook-id': 'batch-1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signWebhook(secret, 'batch-1', timestamp, body),
  };
  return (await fetch(receiver.url, { method: 'POST', headers, body })).status;
}

test('it takes what is signed with its secret, and nothing else', async () => {
  expect(await send('{"items":[]}', receiver.secret)).toBe(204);
  expect(await send('{"items":[]}', createWebhookSecret(randomBytes))).toBe(401);
  expect((await fetch(receiver.url)).status).toBe(401);
});

test('it does not hold more than a batch in memory', async () => {
  const large = send('x'.repeat(17 * 1024 * 1024), receiver.secret);
  // It answers before all of it came: a client that still writes may see the end of the connection instead.
  expect(await large.catch(() => 413)).toBe(413);
  expect(await send('{}', receiver.secret)).toBe(204);
});

test('another start has another secret', async () => {
  const other = await startReceiver(randomBytes, () => NOW_MS);
  expect(other.secret).not.toBe(receiver.secret);
  await other.close();
});
