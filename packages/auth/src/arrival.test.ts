import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { arrivalOfUpgrade } from './arrival.ts';
import { trustedProxies } from './client-address.ts';

const PROXY = '10.0.0.1';
const arrival = (headers: Record<string, string | string[]>, remoteAddress = '192.0.2.1') =>
  arrivalOfUpgrade({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, trustedProxies([PROXY]));

test('a WebSocket is for pages of this host and of listed origins, and for what is no browser', () => {
  const mayConnect = (origin: string | undefined, host = 'fleet.example.com') =>
    arrival({ host, ...(origin === undefined ? {} : { origin }) }).mayConnect(['https://app.example.com']);
  for (const origin of [undefined, 'https://app.example.com', 'https://fleet.example.com', 'http://fleet.example.com'])
    expect(mayConnect(origin), origin).toBe(true);
  for (const origin of ['https://stranger.test', 'null', '', 'https://fleet.example.com:8443'])
    expect(mayConnect(origin), origin).toBe(false);
  expect(mayConnect('https://fleet.example.com.evil.test')).toBe(false);
  expect(mayConnect('http://localhost:8080', 'localhost:8080')).toBe(true);
});

test('headers of proxies are believed of trusted ones alone', () => {
  const headers = { host: 'inner', 'x-forwarded-host': 'Fleet.test', 'x-forwarded-proto': 'https' };
  const forwarded = { ...headers, 'x-forwarded-for': ['203.0.113.7', '198.51.100.2'] };
  expect(arrival(forwarded, PROXY)).toMatchObject({
    address: '198.51.100.2',
    secure: true,
    site: 'https://fleet.test',
  });
  expect(arrival(forwarded)).toMatchObject({ address: '192.0.2.1', secure: false, site: 'http://inner' });
});
