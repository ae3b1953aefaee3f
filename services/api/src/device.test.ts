import { expect, test } from 'vitest';
import { deviceOf } from './device.ts';

test('browsers by the names that people know, programs by their own', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [userAgent, name] of [
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/126.0 Safari/537.36`, 'Chrome, Windows'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/126.0 Safari/537.36 Edg/126.0`, 'Edge, Windows'],
    [`Mozilla/5.0 (Linux; Android 14) ${webkit} Chrome/126.0 Mobile Safari/537.36`, 'Chrome, Android'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile/15E148 Safari/604.1', 'Safari, iOS'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0', 'Firefox, Linux'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['python-requests/2.32 more', 'python-requests/2.32'],
    ['Dispatch, north', 'Dispatch, north'],
    ['', ''],
  ] as const)
    expect(deviceOf(userAgent), userAgent).toBe(name);
});
