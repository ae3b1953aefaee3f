import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hiddenUrl, isHiddenUrl } from './hidden-url.ts';

test('of a URL the server is shown, and whether it is another one', () => {
  const url = 'https://hooks.example.com:8443/services/T0001/B0002/abcdefghij?thread=7';
  const hidden = hiddenUrl(url);
  expect(hidden).toMatch(/^https:\/\/hooks\.example\.com:8443\/\*\*\*[0-9a-f]{8}$/);
  expect(new URL(hidden).origin).toBe(new URL(url).origin);
  expect(hiddenUrl(url)).toBe(hidden);
  expect(hiddenUrl(`${url}8`)).not.toBe(hidden);
  expect(hiddenUrl(hidden)).toBe(hidden);
});

test('nothing of a login, path or query is left of any URL, and no URL that is whole passes for a hidden one', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      expect(isHiddenUrl(url)).toBe(false);
      expect(hiddenUrl(url)).toMatch(/^https?:\/\/[^/]+\/\*\*\*[0-9a-f]{8}$/);
      expect(new URL(hiddenUrl(url)).origin).toBe(new URL(url).origin);
    }),
  );
  expect(hiddenUrl('anna:secret@chat')).toMatch(/^\/\*\*\*[0-9a-f]{8}$/);
});
