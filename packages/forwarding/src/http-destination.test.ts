import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createGuardedHttp } from '@outrider/channels';
import { makeCertificate } from '@outrider/channels/certificate';
import { afterEach, expect, test } from 'vitest';
import { openTarget } from './kinds.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const TOMORROW = new Date(Date.now() + 86_400_000);
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A receiving system whose certificate no authority signed. */
async function receiver() {
  const received: IncomingHttpHeaders[] = [];
  const { key, cert } = makeCertificate('localhost', TOMORROW);
  const server = createServer({ key, cert }, (request, response) => {
    received.push(request.headers);
    request.resume();
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, cert, url: `https://localhost:${(server.address() as AddressInfo).port}/in` };
}

const http = () => {
  const bounds = { timeoutMs: 20_000, connectTimeoutMs: 20_000, maxResponseBytes: 1024 };
  const opened = createGuardedHttp({ allowPrivateAddresses: true, now: Date.now, ...bounds });
  ends.push(() => opened.close());
  return opened;
};

test('a certificate is checked by the authorities of the destination, also over connections that are kept', async () => {
  const { cert, url, received } = await receiver();
  const context = { id: 'd1', isTest: false, http: http(), allowPrivateAddresses: true, now: Date.now };
  const send = (ca: string | null) =>
    openTarget({ kind: 'http', settings: { url, ca } }, { secret: SECRET, headers: {} }, context).test();
  await expect(send(null)).rejects.toThrow(/No secure connection/);
  await send(cert);
  await expect(send(makeCertificate('localhost', TOMORROW).cert)).rejects.toThrow(/No secure connection/);
  await expect(send(null)).rejects.toThrow(/No secure connection/);
  expect(received).toHaveLength(1);
});

test('calls have the headers of the destination, beside those that they are signed by', async () => {
  const { cert, url, received } = await receiver();
  const context = { id: 'd1', isTest: false, http: http(), allowPrivateAddresses: true, now: Date.now };
  const settings = { url, ca: cert, headers: { 'X-Tenant': '5' } };
  const secrets = { secret: SECRET, headers: { Authorization: 'Bearer word' } };
  await openTarget({ kind: 'http', settings }, secrets, context).send({ id: 'b1', items: [] });
  expect(received[0]).toMatchObject({
    'x-tenant': '5',
    authorization: 'Bearer word',
    'webhook-id': 'batch-b1',
    'content-type': 'application/json',
  });
});
