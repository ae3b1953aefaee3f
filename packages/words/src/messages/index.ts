import { de as deNames } from '../de.ts';
import { en as enNames } from '../en.ts';
import { es as esNames } from '../es.ts';
import { he as heNames } from '../he.ts';
import type { Language } from '../index.ts';
import type { Names } from '../names.ts';
import { ru as ruNames } from '../ru.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { he } from './he.ts';
import { ru } from './ru.ts';
import type { MessageWords } from './words.ts';

export { type MessageWords, REPORT_FAILURES, type ReportFailure } from './words.ts';

const WORDS: Readonly<Record<Language, { words: MessageWords; names: Names; direction: 'ltr' | 'rtl' }>> = {
  en: { words: en, names: enNames, direction: 'ltr' },
  ru: { words: ru, names: ruNames, direction: 'ltr' },
  de: { words: de, names: deNames, direction: 'ltr' },
  es: { words: es, names: esNames, direction: 'ltr' },
  he: { words: he, names: heNames, direction: 'rtl' },
};

/** Texts of messages in a language, with its names of things. */
export function messagesIn(language: Language): { words: MessageWords; names: Names; direction: 'ltr' | 'rtl' } {
  return WORDS[language];
}
