import { expect, test } from 'vitest';
import { pathOf, readPush } from './push-message.ts';

const pushed = (value: unknown) => readPush({ json: () => value });

test('a message is shown as it was sent, and takes the place of itself', () => {
  const sent = { id: 'one', title: 'Depot', body: 'Van 7', path: '/me', lang: 'he', dir: 'rtl' };
  expect(pushed(sent)).toMatchObject({
    title: 'Depot',
    options: { body: 'Van 7', tag: 'one', lang: 'he', dir: 'rtl', data: { path: '/me' } },
  });
});

test('whatever came, something is shown', () => {
  const broken = {
    json: () => {
      throw new SyntaxError('no JSON');
    },
  };
  for (const message of [readPush(null), readPush(broken), pushed(null), pushed({ title: 1, dir: 'up' })])
    expect(message).toMatchObject({ title: 'Outrider', options: { dir: 'auto', data: { path: '/notifications' } } });
});

test('a click stays in the console', () => {
  for (const path of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', 7, undefined])
    expect(pathOf({ path })).toBe('/notifications');
  expect(pathOf({ path: '/?vehicle=1' })).toBe('/?vehicle=1');
});
