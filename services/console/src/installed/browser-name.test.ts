import { expect, test } from 'vitest';
import { browserName } from './browser-name.ts';

test('a browser is called what its user calls it', () => {
  const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
  expect(browserName(`${windows} Chrome/140.0 Safari/537.36 Edg/140.0`)).toBe('Edge, Windows');
  expect(browserName(`${windows} Chrome/140.0 Safari/537.36`)).toBe('Chrome, Windows');
  expect(browserName('Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0')).toBe('Firefox, Linux');
  expect(browserName('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1')).toBe(
    'Safari, iPhone',
  );
  expect(browserName('')).toBe('Browser');
});
