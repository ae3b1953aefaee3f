import { ConnectionError } from '@outrider/client';
import { expect, test, vi } from 'vitest';
import { DEFAULT_PREFERENCES, type Preferences } from './preferences.ts';

vi.stubGlobal('navigator', { languages: ['en'] });
const { browserDiffers, PreferenceSender } = await import('./account-preferences.ts');

/** An account in memory, whose answers can be held back and refused. */
function account(stored: Partial<Preferences> = {}) {
  const kept = { ...DEFAULT_PREFERENCES, ...stored };
  const taken: Preferences[] = [];
  const writes: Partial<Preferences>[] = [];
  const errors: unknown[] = [];
  const state = { refuse: null as Error | null, hold: Promise.resolve() };
  const sender = new PreferenceSender({
    read: async () => ({ ...kept }),
    write: async (part) => {
      writes.push(part);
      await state.hold;
      if (state.refuse !== null) throw state.refuse;
      Object.assign(kept, part);
    },
    onRead: (read) => taken.push(read),
    onError: (error) => errors.push(error),
  });
  return { sender, kept, taken, writes, errors, state };
}

test('what is stored with the account counts; what was chosen before the login is sent after it', async () => {
  const { sender, kept, taken, writes } = account({ theme: 'dark', language: 'de' });
  await sender.add({ language: 'ru' });
  expect(writes).toEqual([]);
  await sender.begin();
  expect(taken).toEqual([{ ...DEFAULT_PREFERENCES, theme: 'dark', language: 'ru' }]);
  expect(writes).toEqual([{ language: 'ru' }]);
  expect(kept).toMatchObject({ theme: 'dark', language: 'ru' });
});

test('changes during a call are sent together after it', async () => {
  const { sender, writes, state } = account();
  await sender.begin();
  let release = () => {};
  state.hold = new Promise((resolve) => {
    release = resolve;
  });
  const first = sender.add({ units: 'imperial' });
  await sender.add({ theme: 'dark' });
  await sender.add({ theme: 'light', clusters: false });
  expect(writes).toEqual([{ units: 'imperial' }]);
  release();
  await first;
  expect(writes).toEqual([{ units: 'imperial' }, { theme: 'light', clusters: false }]);
});

test('without a connection a change goes with the next one; a refused one does not', async () => {
  const { sender, kept, writes, errors, state } = account();
  await sender.begin();
  state.refuse = new ConnectionError('no');
  await sender.add({ theme: 'dark' });
  state.refuse = null;
  await sender.add({ units: 'imperial' });
  expect(writes.at(-1)).toEqual({ theme: 'dark', units: 'imperial' });
  expect(kept).toMatchObject({ theme: 'dark', units: 'imperial' });
  state.refuse = new Error('too many favourites');
  await sender.add({ favourites: ['v'] });
  state.refuse = null;
  await sender.add({ clusters: false });
  expect(writes.at(-1)).toEqual({ clusters: false });
  expect(errors.length).toBe(2);
});

test('after the logout nothing is sent, and nothing of it goes to the next account', async () => {
  const { sender, writes, state } = account();
  await sender.begin();
  state.refuse = new ConnectionError('no');
  await sender.add({ theme: 'dark' });
  sender.end();
  state.refuse = null;
  await sender.begin();
  expect(writes).toEqual([{ theme: 'dark' }]);
});

test('the account learns the language and the time zone of the browser, once', () => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const first = browserDiffers({ browserLanguage: null, browserTimeZone: null }, 'he');
  expect(first).toEqual({ browserLanguage: 'he', browserTimeZone: timeZone });
  expect(browserDiffers({ browserLanguage: 'he', browserTimeZone: timeZone }, 'he')).toBeNull();
});
