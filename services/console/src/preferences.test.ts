import { expect, test } from 'vitest';
import { DEFAULT_PREFERENCES, readPreferences } from './preferences.ts';

test('what was stored comes back', () => {
  const stored = {
    language: 'de',
    theme: 'dark',
    units: 'imperial',
    timeZone: 'Asia/Tokyo',
    favourites: ['a'],
    clusters: false,
    vehicleColors: true,
    compactList: true,
    listColumns: ['speed', 'contact'],
    map: 'region',
  };
  expect(readPreferences(JSON.stringify(stored))).toEqual(stored);
});

test('what another version or somebody’s hand wrote falls back to the defaults', () => {
  const odd = { theme: 'pink', units: 3, timeZone: 'Mars/Olympus', favourites: 'a', language: 7 };
  for (const text of [null, '', '{', 'null', '[]', '"text"', JSON.stringify(odd)])
    expect(readPreferences(text), String(text)).toEqual(DEFAULT_PREFERENCES);
});
