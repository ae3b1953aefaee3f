import { isolating } from './isolate.ts';
import { LANGUAGES, language } from './words.ts';

/** The words of a page in each language of the console. */
export interface PageWords<Words> {
  /** Those of the language in use. Read within a component, they follow it. */
  (): Words;
  readonly inLanguages: Readonly<Record<'en' | 'ru' | 'de' | 'es' | 'he', Words>>;
}

/** Makes words of a page, which come with the page: the first load does without them. */
export function pageWords<Words>(inLanguages: PageWords<Words>['inLanguages']): PageWords<Words> {
  const made = new Map<string, Words>();
  const words = () => {
    const tag = language.value;
    const known = made.get(tag);
    if (known !== undefined) return known;
    const own = (inLanguages as Readonly<Record<string, Words>>)[tag] ?? inLanguages.en;
    const isolated = isolating(own, LANGUAGES[tag]?.direction ?? 'ltr');
    made.set(tag, isolated);
    return isolated;
  };
  return Object.assign(words, { inLanguages });
}
