import { createDecipheriv, createECDH, createHmac, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChannelContext, ChannelMessage } from '../channel-kind.ts';
import { createGuardedHttp, type GuardedHttp } from '../guarded-http.ts';
import { createVapidKeys, fingerprintOf, subscriptionFault, webPushChannel } from './web-push.ts';

/** What the push service was sent. */
let sent: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
let status = 201;
let http: GuardedHttp;
let origin: string;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    sent.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(status, { 'retry-after': '7' }).end();
  });
});
const vapid = await createVapidKeys();

/** A browser: its keys, and the subscription that it gives. */
function browser() {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  const subscription = {
    endpoint: `${origin}/push/abc`,
    keys: { p256dh: keys.getPublicKey('base64url'), auth: auth.toString('base64url') },
  };
  /** RFC 8291 with the coding of RFC 8188, from the side of the browser. */
  const open = (body: Buffer): string => {
    const salt = body.subarray(0, 16);
    const recordBytes = body.readUInt32BE(16);
    const keyBytes = body.readUInt8(20);
    const sender = body.subarray(21, 21 + keyBytes);
    const secret = keys.computeSecret(sender);
    const prk = createHmac('sha256', auth).update(secret).digest();
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), sender, Buffer.from([1])]);
    const ikm = createHmac('sha256', prk).update(info).digest();
    const derived = (label: string, length: number) =>
      Buffer.from(hkdfSync('sha256', ikm, salt, Buffer.from(`Content-Encoding: ${label}\0`), length));
    const record = body.subarray(21 + keyBytes);
    expect(record.length).toBeLessThanOrEqual(recordBytes);
    const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12));
    decipher.setAuthTag(record.subarray(-16));
    const clear = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    // The delimiter of the last record, after which there is padding alone.
    const end = clear.lastIndexOf(2);
    return clear.subarray(0, end).toString('utf8');
  };
  return { subscription, open };
}

const message: ChannelMessage = { id: 'one', title: 'Depot', text: "'Van 7' נכנס", language: 'he', direction: 'rtl' };

function send(subscription: object, more: Partial<ChannelContext> = {}, what: ChannelMessage = message) {
  const webPush = { keys: vapid, contact: 'mailto:a@example.org', hosts: ['127.0.0.1'] };
  return webPushChannel.send({ service: '', fingerprint: '' }, JSON.stringify(subscription), what, {
    ...{ http, config: {}, isUnproven: false, allowPrivateAddresses: true, webPush },
    ...more,
  });
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  http = createGuardedHttp({
    ...{ allowPrivateAddresses: true, timeoutMs: 10_000, maxResponseBytes: 1000 },
    now: Date.now,
  });
});
afterAll(async () => {
  await http.close();
  server.close();
});

test('a browser alone can read its message, and the push service knows who sends it', async () => {
  sent = [];
  status = 201;
  const { subscription, open } = browser();
  expect(await send(subscription)).toEqual({ ok: true, status: 201 });
  const [{ path, headers, body } = { path: '', headers: {}, body: Buffer.alloc(0) }] = sent;
  expect([path, headers['content-encoding'], headers.ttl, headers.urgency]).toEqual([
    '/push/abc',
    'aes128gcm',
    '3600',
    'high',
  ]);
  expect(headers.topic).toMatch(/^[\w-]{32}$/);
  expect(body.toString('latin1')).not.toContain('Depot');
  expect(JSON.parse(open(body))).toEqual({
    ...{ id: 'one', title: 'Depot', body: "'Van 7' נכנס", path: '/notifications', lang: 'he', dir: 'rtl' },
  });
  expect(() => browser().open(body)).toThrow();
  // RFC 8292: a token for this push service, signed with the key of the service.
  const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(headers.authorization ?? '') ?? [];
  expect(key).toBe(vapid.publicKey);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const { aud, sub, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  expect([aud, sub]).toEqual([origin, 'mailto:a@example.org']);
  expect(exp * 1000).toBeGreaterThan(Date.now());
  const point = Buffer.from(key, 'base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url') };
  const publicKey = createPublicKey({ key: { ...jwk, y: point.subarray(33).toString('base64url') }, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const proof = { key: publicKey, dsaEncoding: 'ieee-p1363' as const };
  expect(verify('sha256', signed, proof, Buffer.from(signature, 'base64url'))).toBe(true);
});

test('the same message has the same topic, another one has another', async () => {
  sent = [];
  const { subscription } = browser();
  for (const id of ['one', 'one', 'two']) await send(subscription, {}, { ...message, id });
  const [first, again, other] = sent.map(({ headers }) => headers.topic);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test('a text of any length fits', async () => {
  sent = [];
  const { subscription, open } = browser();
  await send(subscription, {}, { ...message, text: 'ж😀'.repeat(5000) });
  const body = sent[0]?.body ?? Buffer.alloc(0);
  expect(body.length).toBeLessThanOrEqual(4096);
  expect(JSON.parse(open(body)).body).toMatch(/^(ж😀){100,}ж?$/u);
});

test.each([
  [404, { ok: false, retry: false, isGone: true }],
  [410, { ok: false, retry: false, isGone: true }],
  [403, { ok: false, retry: false }],
  [429, { ok: false, retry: true, retryAfterMs: 7000 }],
  [503, { ok: false, retry: true }],
])('an answer %i', async (answer, expected) => {
  status = answer;
  const result = await send(browser().subscription);
  expect(result).toMatchObject({ ...expected, status: answer });
  if (answer === 403) expect(result).not.toHaveProperty('isGone');
});

test('nothing is sent to an address that is not that of a push service', async () => {
  sent = [];
  const { subscription } = browser();
  const webPush = { keys: vapid, contact: 'mailto:a@example.org', hosts: ['*.push.example.com'] };
  expect(await send(subscription, { webPush })).toMatchObject({ ok: false, retry: false });
  expect(await send(subscription, { allowPrivateAddresses: false })).toMatchObject({ ok: false, retry: false });
  expect(await send({}, {})).toMatchObject({ ok: false, retry: false });
  expect(sent).toEqual([]);
});

test('what a browser hands in is checked', () => {
  const { keys } = browser().subscription;
  const fault = (endpoint: string, more: object = {}) =>
    subscriptionFault(
      { endpoint, keys: { ...keys, ...more } },
      { hosts: ['push.example.com', '*.wide.example.com'], allowPrivateAddresses: false },
    )?.pointer ?? null;
  expect(fault('https://push.example.com/a')).toBeNull();
  expect(fault('https://a.wide.example.com/a')).toBeNull();
  for (const endpoint of [
    'http://push.example.com/a',
    'https://a.push.example.com/a',
    'https://wide.example.com/a',
    'https://evilwide.example.com/a',
    'https://push.example.com.evil.org/',
    'https://user@push.example.com/',
    'https://127.0.0.1/a',
    'nonsense',
  ])
    expect(fault(endpoint), endpoint).toBe('/endpoint');
  expect(fault('https://push.example.com/a', { auth: 'AAAA' })).toBe('/keys/auth');
  expect(fault('https://push.example.com/a', { p256dh: 'AAAA' })).toBe('/keys/p256dh');
  // No point of the curve.
  expect(fault('https://push.example.com/a', { p256dh: Buffer.alloc(65, 4).toString('base64url') })).toBe(
    '/keys/p256dh',
  );
  expect(fingerprintOf('https://push.example.com/a')).toMatch(/^[\w-]{22}$/);
});
