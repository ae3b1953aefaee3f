import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventNames, eventNamesFile } from './event-names.ts';
import { LANGUAGES, languageOf, namesIn, spaced } from './index.ts';

test('every language has a word for what English has a word for', async () => {
  const english = await namesIn('en');
  for (const language of LANGUAGES) {
    const names = await namesIn(language);
    for (const part of Object.keys(english) as (keyof typeof english)[])
      expect
        .soft(Object.keys(names[part]).toSorted(), `${language} ${part}`)
        .toEqual(Object.keys(english[part]).toSorted());
  }
});

test('the names of events are those of their descriptions; `npm run openapi` writes them anew', () => {
  for (const language of LANGUAGES)
    expect(readFileSync(eventNamesFile(language), 'utf8'), language).toBe(eventNames(language));
});

test('a language without words is English', () => {
  expect(languageOf('he-IL')).toBe('he');
  expect(languageOf('pt-BR')).toBe('en');
  expect(languageOf(null)).toBe('en');
});

test('a name without a word is written with spaces', () => {
  expect(spaced('engine-on')).toBe('Engine on');
  expect(spaced('startPlace')).toBe('Start place');
});
