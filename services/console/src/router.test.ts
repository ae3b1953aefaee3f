import { expect, test } from 'vitest';
import { withQuery } from './router.ts';

const at = (query: string) => ({ path: '/', query: new URLSearchParams(query) });

test('parameters are set and taken away, and stay readable', () => {
  expect(withQuery({ vehicle: 'a' }, at('q=van'))).toBe('/?q=van&vehicle=a');
  expect(withQuery({ q: null, follow: '' }, at('q=van&follow=1'))).toBe('/');
  expect(withQuery({ at: '12.5/59.9/30.3' }, at(''))).toBe('/?at=12.5/59.9/30.3');
  expect(withQuery({ q: 'a&b=c' }, at(''))).toBe('/?q=a%26b%3Dc');
});
