import { afterAll, expect, test, vi } from 'vitest';
import { preferences } from '../preferences.ts';
import { loadPageWords, pageWords } from './page-words.ts';

const before = preferences.value;
// Files share a thread.
afterAll(() => {
  preferences.value = before;
});

test('words of a page come in the language in use alone, and follow it', async () => {
  const loaded: string[] = [];
  const fileOf = (tag: string, text: string) => async () => {
    loaded.push(tag);
    return { hello: (name: string) => `${text} ${name}` };
  };
  preferences.value = { ...preferences.value, language: 'de' };
  const words = pageWords({ './en/hello.ts': fileOf('en', 'Hello'), './de/hello.ts': fileOf('de', 'Hallo') });
  expect(() => words()).toThrow('./en/hello.ts was not loaded');
  await loadPageWords();
  expect(loaded).toEqual(['de']);
  expect(words().hello('Anna')).toBe('Hallo Anna');

  preferences.value = { ...preferences.value, language: 'en' };
  // Those before are shown until the others are there.
  expect(words().hello('Anna')).toBe('Hallo Anna');
  await vi.waitFor(() => expect(words().hello('Anna')).toBe('Hello Anna'));
  expect(loaded).toEqual(['de', 'en']);
});

test('code whose words can’t be loaded is not there, until they can be', async () => {
  const load = vi.fn<() => Promise<object>>().mockRejectedValueOnce(new Error('no connection')).mockResolvedValue({});
  pageWords({ './en/late.ts': load });
  await expect(loadPageWords()).rejects.toThrow('no connection');
  await loadPageWords();
  expect(load).toHaveBeenCalledTimes(2);
});
