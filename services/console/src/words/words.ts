import { computed, effect, signal } from '@preact/signals';
import { Loadable } from '../parts/loading/loadable.ts';
import { preferences } from '../preferences.ts';
import { en, type Words } from './en.ts';
import { type Direction, isolated, isolating } from './isolate.ts';

interface Language {
  /** Name of the language in the language itself. */
  name: string;
  direction: Direction;
  load: () => Promise<Words>;
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: { name: 'English', direction: 'ltr', load: async () => en },
  ru: { name: 'Русский', direction: 'ltr', load: async () => (await import('./ru.ts')).ru },
  de: { name: 'Deutsch', direction: 'ltr', load: async () => (await import('./de.ts')).de },
  es: { name: 'Español', direction: 'ltr', load: async () => (await import('./es.ts')).es },
  he: { name: 'עברית', direction: 'rtl', load: async () => (await import('./he.ts')).he },
};

/** The first of the browser's languages that has texts. */
export function bestLanguage(wanted: readonly string[]): string {
  const known = wanted
    .map((tag) => tag.toLowerCase().split('-', 1)[0] ?? '')
    .find((tag) => Object.hasOwn(LANGUAGES, tag));
  return known ?? 'en';
}

/** The language in use: the chosen one, or the browser's. */
export const language = computed(() => {
  const { language: chosen } = preferences.value;
  return chosen !== null && Object.hasOwn(LANGUAGES, chosen) ? chosen : bestLanguage(navigator.languages);
});

/** The language with the browser's region, such as `en-GB` for `en`, which determines the format of dates and times. */
export function withRegion(tag: string, wanted: readonly string[]): string {
  return wanted.find((one) => one.toLowerCase().split('-', 1)[0] === tag) ?? tag;
}

const inUse = signal<Words>(isolating(en, 'ltr'));
const loadables = new Map(Object.entries(LANGUAGES).map(([tag, { load }]) => [tag, new Loadable(load)]));

/** The texts in the current language. A component that calls this is rendered again when the language changes. */
export const t = (): Words => inUse.value;

/**
 * Joins names and values, such as a plate and a terminal. Each keeps its text direction, and empty ones are omitted.
 */
export function joined(parts: readonly (string | null | undefined | false)[], separator = ' · '): string {
  const direction = LANGUAGES[language.value]?.direction ?? 'ltr';
  return parts
    .filter((part) => typeof part === 'string' && part !== '')
    .map((part) => isolated(part as string, direction))
    .join(separator);
}

/**
 * Updates texts, `lang` and `dir` when the language changes. If its texts cannot be loaded, the previous ones stay
 * until then.
 */
export function followLanguage(): void {
  effect(() => {
    const tag = language.value;
    const { direction } = LANGUAGES[tag] as Language;
    const words = loadables.get(tag)?.state.value ?? null;
    if (words === null || words instanceof Error) return;
    inUse.value = isolating(words, direction);
    document.documentElement.lang = tag;
    document.documentElement.dir = direction;
  });
}
