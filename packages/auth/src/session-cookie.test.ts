import { expect, test } from 'vitest';
import { mayConnect, originOf, sessionCookieOf, setSessionCookie } from './session-cookie.ts';

test('it is out of reach of scripts and of other sites; over TLS it is bound to the host', () => {
  expect(setSessionCookie('a.b-c_d', true, 60)).toBe(
    '__Host-outrider=a.b-c_d; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
  );
  expect(setSessionCookie('', false, 0)).toBe('outrider=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict');
});

test('it is found among others, and only under the name of the way that the request came', () => {
  const header = 'theme=dark; __Host-outrider=secure.token; outrider=plain.token; outriders=x';
  expect(sessionCookieOf(header, true)).toBe('secure.token');
  expect(sessionCookieOf(header, false)).toBe('plain.token');
  expect(sessionCookieOf('outrider=plain.token', true)).toBeNull();
  expect(sessionCookieOf('__Host-outrider=secure.token', false)).toBeNull();
  for (const header of [undefined, '', 'outrider', 'outrider=', 'outrider="a"', 'xoutrider=a', 'outrider=a b'])
    expect(sessionCookieOf(header, false)).toBeNull();
});

test('what the browser says of the site decides, else the origin must be the very one', () => {
  const at = { fetchSite: undefined, origin: undefined, host: 'fleet.test:8443', secure: true };
  expect(originOf(at)).toBe('unknown');
  expect(originOf({ ...at, fetchSite: 'same-origin' })).toBe('same');
  for (const fetchSite of ['same-site', 'cross-site', 'none', ''])
    expect(originOf({ ...at, fetchSite, origin: 'https://fleet.test:8443' })).toBe('other');
  expect(originOf({ ...at, origin: 'https://FLEET.test:8443' })).toBe('same');
  for (const origin of ['http://fleet.test:8443', 'https://fleet.test', 'https://evil.test', 'null', 'https://'])
    expect(originOf({ ...at, origin })).toBe('other');
  expect(originOf({ ...at, origin: 'https://', host: undefined })).toBe('other');
});

test('a WebSocket is for pages of this host, whatever stands in front of it, and of listed origins', () => {
  const listed = ['https://app.test'];
  const may = (origin: string | undefined, host: string | undefined = 'fleet.test') =>
    mayConnect({ origin, host }, listed);
  for (const origin of [undefined, 'https://app.test', 'https://fleet.test', 'http://fleet.test', 'https://FLEET.test'])
    expect(may(origin), origin).toBe(true);
  for (const origin of [
    'http://app.test',
    'https://app.test:444',
    'https://fleet.test:8443',
    'https://a.fleet.test',
    'null',
    '',
  ])
    expect(may(origin), origin).toBe(false);
  expect(mayConnect({ origin: 'https://fleet.test', host: undefined }, listed)).toBe(false);
});
