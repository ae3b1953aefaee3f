import type { Names } from './names.ts';

export type { Named, Names } from './names.ts';
export { spaced } from './spaced.ts';

const LOADERS = {
  en: async () => (await import('./en.ts')).en,
  ru: async () => (await import('./ru.ts')).ru,
  de: async () => (await import('./de.ts')).de,
  es: async () => (await import('./es.ts')).es,
  he: async () => (await import('./he.ts')).he,
} as const satisfies Record<string, () => Promise<Names>>;

export type Language = keyof typeof LOADERS;
export const LANGUAGES = Object.keys(LOADERS) as Language[];

/** Language of a tag such as `pt-BR`; English for languages without words. */
export function languageOf(tag: string | null | undefined): Language {
  const [wanted] = (tag ?? '').toLowerCase().split('-', 1);
  return LANGUAGES.find((language) => language === wanted) ?? 'en';
}

export function namesIn(language: Language): Promise<Names> {
  return LOADERS[language]();
}
