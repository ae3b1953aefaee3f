import { DESCRIBED_KINDS, type KindWords } from '@outrider/domain';
import type { Language } from './index.ts';

export function eventNamesFile(language: Language): URL {
  return new URL(`events/${language}.ts`, import.meta.url);
}

/** Source of a module with a language's words for kinds of events: `events` and `eventHints`, each by kind. */
export function eventNames(language: Language): string {
  const wordsOf = (part: (words: KindWords) => string) =>
    Object.fromEntries(Object.entries(DESCRIBED_KINDS).map(([kind, { words }]) => [kind, part(words[language])]));
  const constant = (name: string, words: object) =>
    `export const ${name} = ${JSON.stringify(words, null, 2)} as const;`;
  return `${[
    '// Generated from the descriptions of events by `npm run openapi`. Do not edit.',
    constant(
      'events',
      wordsOf(({ name }) => name),
    ),
    constant(
      'eventHints',
      wordsOf(({ hint }) => hint),
    ),
  ].join('\n\n')}\n`;
}
