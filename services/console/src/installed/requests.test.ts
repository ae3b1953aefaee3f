import { expect, test } from 'vitest';
import { handlingOf } from './requests.ts';

const ORIGIN = 'https://fleet.example';
const FILES = new Set(['/assets/index-5f2c8a3e.js', '/favicon.svg']);
const handling = (path: string, mode = 'cors', method = 'GET') =>
  handlingOf({ url: new URL(path, ORIGIN).href, mode, method }, ORIGIN, FILES);

test('files of the version come from the cache', () => {
  expect(handling('/assets/index-5f2c8a3e.js')).toBe('file');
  expect(handling('/favicon.svg', 'no-cors')).toBe('file');
});

test('answers of the service are never kept', () => {
  for (const path of ['/api/v1/vehicles', '/auth/login', '/maps/world/0/0/0', '/assets/other.js', '/favicon.svg?v=2'])
    expect(handling(path), path).toBe('service');
  expect(handling('https://elsewhere.example/favicon.svg')).toBe('service');
  expect(handling('/favicon.svg', 'cors', 'POST')).toBe('service');
});

test('a view is the page, and what the service answers itself is not a view', () => {
  for (const path of ['/', '/track?vehicle=1', '/users']) expect(handling(path, 'navigate')).toBe('view');
  for (const path of ['/docs/', '/api/v1/reports/trips', '/openapi.json', '/email/confirm', '/s/6Fh-x_2'])
    expect(handling(path, 'navigate'), path).toBe('service');
});
