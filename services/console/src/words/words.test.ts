import { expect, test, vi } from 'vitest';

vi.stubGlobal('navigator', { languages: ['en'] });
const { bestLanguage, LANGUAGES, withRegion } = await import('./words.ts');
const { counted } = await import('./counted.ts');

/** Every text of a language by its place, functions called with a number or a word. */
function texts(value: unknown, path = ''): Map<string, string> {
  if (typeof value === 'string') return new Map([[path, value]]);
  if (typeof value === 'function') return new Map([[path, String(value(5, 'zz'))]]);
  return new Map(
    Object.entries(value as object).flatMap(([name, part]) => [...texts(part, path === '' ? name : `${path}.${name}`)]),
  );
}

test('each language has every word, none of them empty, and few as in English', async () => {
  const english = texts(await LANGUAGES.en?.load());
  for (const [tag, language] of Object.entries(LANGUAGES)) {
    const own = texts(await language.load());
    expect([...own.keys()].sort(), tag).toEqual([...english.keys()].sort());
    for (const [path, text] of own) expect(text.trim(), `${tag} ${path}`).not.toBe('');
    if (tag === 'en') continue;
    const same = [...own].filter(([path, text]) => english.get(path) === text);
    expect(same.length, `${tag}: ${same.map(([path]) => path)}`).toBeLessThan(own.size / 10);
  }
});

test('numbers take the plural form of their language', () => {
  const forms = { one: '# секунда', few: '# секунды', other: '# секунд' };
  expect([1, 3, 5, 21].map((count) => counted('ru', count, forms))).toEqual([
    '1 секунда',
    '3 секунды',
    '5 секунд',
    '21 секунда',
  ]);
  expect(counted('de', 1234, { one: '# Tag', other: '# Tage' })).toBe('1.234 Tage');
});

test('the first known of the browser’s languages is taken, else English', () => {
  expect(bestLanguage(['fr-CH', 'de-AT', 'en'])).toBe('de');
  expect(bestLanguage(['he-IL'])).toBe('he');
  expect(bestLanguage(['fr', 'constructor'])).toBe('en');
  expect(bestLanguage([])).toBe('en');
});

test('dates are written as in the browser’s region, where it has one of the language', () => {
  expect(withRegion('en', ['de-AT', 'en-GB', 'en-US'])).toBe('en-GB');
  expect(withRegion('ru', ['en-GB'])).toBe('ru');
});
