import { expect, test, vi } from 'vitest';

vi.stubGlobal('navigator', { languages: ['en'] });
const { bestLanguage, LANGUAGES, withRegion } = await import('./words.ts');
const { counted } = await import('./counted.ts');

/** What has one name everywhere. */
const NAMES = ['EGTS', 'Host', 'Kafka', 'MQTT', 'Port', 'TLS', 'Topic', 'Wialon IPS'];

/** Every text of a language by its place, functions called with a number or a word. */
function texts(value: unknown, path = ''): Map<string, string> {
  if (typeof value === 'string') return new Map([[path, value]]);
  if (typeof value === 'function') return new Map([[path, String(value(5, 'zz'))]]);
  return new Map(
    Object.entries(value as object).flatMap(([name, part]) => [...texts(part, path === '' ? name : `${path}.${name}`)]),
  );
}

const FIRST_LOAD = Object.fromEntries(
  await Promise.all(Object.entries(LANGUAGES).map(async ([tag, language]) => [tag, await language.load()])),
);
/** By the name of a file that each language has. */
const areas = new Map<string, Record<string, unknown>>();
for (const [path, words] of Object.entries(import.meta.glob<object>('./*/**/*.ts', { eager: true }))) {
  const [, tag = '', ...rest] = path.split('/');
  const area = rest.join('/');
  areas.set(area, { ...areas.get(area), [tag]: words });
}

test.each([['the first load', FIRST_LOAD], ...[...areas]])(
  'each language has every word of %s, none of them empty, and few as in English',
  (_, words) => {
    const english = texts(words.en);
    expect(Object.keys(words).sort()).toEqual(Object.keys(LANGUAGES).sort());
    for (const [tag, language] of Object.entries(words)) {
      const own = texts(language);
      expect([...own.keys()].sort(), tag).toEqual([...english.keys()].sort());
      for (const [path, text] of own) expect(text.trim(), `${tag} ${path}`).not.toBe('');
      if (tag === 'en') continue;
      const same = [...own].filter(([path, text]) => english.get(path) === text && !NAMES.includes(text));
      expect(same.length, `${tag}: ${same.map(([path]) => path)}`).toBeLessThan(own.size / 10);
    }
  },
);

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
