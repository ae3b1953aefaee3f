import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGuardedHttp, type GuardedHttp } from '../guarded-http.ts';
import { type HttpSettings, httpChannel } from './http.ts';

const SETTINGS: HttpSettings = {
  method: 'POST',
  url: 'https://sms.example.com/send?key={secret}',
  headers: [{ name: 'Authorization', value: 'Bearer {secret}' }],
  contentType: 'application/json',
  body: '{"to":"{to}","text":"{message}"}',
  to: '+49 151 1',
};
const PUBLIC = { allowPrivateAddresses: false };
const pointerOf = (more: Partial<HttpSettings>) => httpChannel.fault({ ...SETTINGS, ...more }, PUBLIC)?.pointer;

describe('settings', () => {
  test('an unknown placeholder is refused with its place', () => {
    expect(httpChannel.fault(SETTINGS, PUBLIC)).toBeNull();
    expect(httpChannel.fault({ ...SETTINGS, body: '{"a":"{mesage}"}' }, PUBLIC)).toEqual({
      pointer: '/body',
      detail:
        'There is no placeholder {mesage} (character 7). Known placeholders: {title}, {message}, {to}, {secret}, {id}.',
    });
    expect(pointerOf({ headers: [{ name: 'X', value: '{x}' }] })).toBe('/headers/0/value');
  });

  test('what could reach the own network, or take over the connection, is refused', () => {
    expect(pointerOf({ url: 'https://{to}/send' })).toBe('/url');
    expect(pointerOf({ url: 'https://sms.example.com{to}/' })).toBe('/url');
    expect(pointerOf({ url: 'http://127.0.0.1/send' })).toBe('/url');
    expect(pointerOf({ url: 'https://10.0.0.1/send' })).toBe('/url');
    expect(pointerOf({ headers: [{ name: 'Host', value: 'x' }] })).toBe('/headers/0/name');
    expect(pointerOf({ headers: [{ name: 'X', value: 'a\r\nb: c' }] })).toBe('/headers/0/value');
    expect(pointerOf({ body: '{"to":{to}' })).toBe('/body');
  });
});

describe('a gateway', () => {
  const calls: { request: IncomingMessage; body: string }[] = [];
  let http: GuardedHttp;
  let port = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls.push({ request, body: Buffer.concat(chunks).toString() });
      response.writeHead(202).end('ok');
    });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
    const bounds = { allowPrivateAddresses: true, timeoutMs: 10_000, maxResponseBytes: 10_000 };
    http = createGuardedHttp({ ...bounds, now: Date.now });
  });
  afterAll(async () => {
    await http.close();
    server.close();
  });
  const send = (more: Partial<HttpSettings>, text = 'x', url = '/send') =>
    httpChannel.send(
      { ...SETTINGS, ...more, url: `http://127.0.0.1:${port}${url}` },
      'k&y',
      { id: 'one', title: 'Van', text },
      { http, config: {}, webPush: null, allowPrivateAddresses: true, isUnproven: false },
    );

  test('gets any text as its format takes it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 30 }), async (text) => {
        const isWhole = text.isWellFormed();
        await send({}, text);
        if (isWhole) expect(JSON.parse(calls.at(-1)?.body ?? '')).toEqual({ to: '+49 151 1', text });
        await send(
          { contentType: 'application/x-www-form-urlencoded', body: 'to={to}&text={message}' },
          isWhole ? text : '',
        );
        const form = new URLSearchParams(calls.at(-1)?.body ?? '');
        expect([form.get('to'), form.get('text')]).toEqual(['+49 151 1', isWhole ? text : '']);
      }),
      { numRuns: 20 },
    );
    await send({ contentType: 'application/xml', body: '<m>{message}</m>' }, '<b>&"');
    expect(calls.at(-1)?.body).toBe('<m>&#60;b&#62;&#38;&#34;</m>');
  });

  test('is called with secrets in headers and in the query, without a body by GET', async () => {
    const result = await send({ method: 'GET' }, 'x', '/send?key={secret}&text={title}');
    expect(result).toEqual({ ok: true, status: 202 });
    const { request, body } = calls.at(-1) as (typeof calls)[0];
    expect([request.method, request.url, body]).toEqual(['GET', '/send?key=k%26y&text=Van', '']);
    expect(request.headers.authorization).toBe('Bearer k&y');
  });
});
