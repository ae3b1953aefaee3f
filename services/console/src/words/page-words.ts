import { effect } from '@preact/signals';
import { Loadable } from '../parts/loading/loadable.ts';
import { isolating } from './isolate.ts';
import { LANGUAGES, language } from './words.ts';

/** Words of some screens. */
export interface PageWords<Words> {
  /** Those of the language in use. Read within a component, they follow it. */
  (): Words;
  readonly inLanguages: ReadonlyMap<string, Loadable<Words>>;
}

/** Of all code that was loaded. */
const all = new Set<PageWords<unknown>>();

// Screens may be open while another language is chosen.
effect(() => {
  const tag = language.value;
  for (const { inLanguages } of all) inLanguages.get(tag)?.begin();
});

/**
 * Makes words of screens: they come after the code that uses them, in the language in use alone.
 *
 * @param files by their paths, `<language>/…/<name>.ts`, as `import.meta.glob` finds them
 */
export function pageWords<Words>(files: Readonly<Record<string, () => Promise<Words>>>): PageWords<Words> {
  const inLanguages = new Map(
    Object.entries(LANGUAGES).map(([tag, { direction }]) => {
      const [, load] = Object.entries(files).find(([path]) => path.includes(`/${tag}/`)) ?? [];
      return [tag, new Loadable(async () => isolating((await load?.()) as Words, direction))];
    }),
  );
  let shown: Words | null = null;
  const words = () => {
    const own = inLanguages.get(language.value)?.state.value ?? null;
    if (own !== null && !(own instanceof Error)) shown = own;
    if (shown === null) throw new Error(`${Object.keys(files)[0]} was not loaded`);
    return shown;
  };
  const made = Object.assign(words, { inLanguages });
  all.add(made);
  return made;
}

/**
 * Loads the words of all code that was loaded.
 *
 * @throws what the first that can't be loaded threw
 */
export async function loadPageWords(): Promise<void> {
  const tag = language.peek();
  await Promise.all([...all].map(({ inLanguages }) => inLanguages.get(tag)?.loaded()));
}
