import { expect, test } from 'vitest';
import { originOf, sessionCookieOf, setSessionCookie } from './session-cookie.ts';

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
