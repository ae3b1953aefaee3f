import { language } from './words.ts';

/** The words of a page in each language of the console. */
export interface PageWords<Words> {
  /** Those of the language in use. Read within a component, they follow it. */
  (): Words;
  readonly inLanguages: Readonly<Record<'en' | 'ru' | 'de' | 'es' | 'he', Words>>;
}

/** Makes words of a page, which come with the page: the first load does without them. */
export function pageWords<Words>(inLanguages: PageWords<Words>['inLanguages']): PageWords<Words> {
  const words = () => (inLanguages as Readonly<Record<string, Words>>)[language.value] ?? inLanguages.en;
  return Object.assign(words, { inLanguages });
}
