import { effect } from '@preact/signals';
import { Loadable } from '../parts/loading/loadable.ts';
import { isolating } from './isolate.ts';
import { LANGUAGES, language } from './words.ts';

/** Words of some screens. */
export interface PageWords<Words> {
  /** The texts in the current language. A component that calls this is rendered again when the language changes. */
  (): Words;
  readonly inLanguages: ReadonlyMap<string, Loadable<Words>>;
}

/** Texts of all code that was loaded. */
const all = new Set<PageWords<unknown>>();

// The language may change while screens are open.
effect(() => {
  const tag = language.value;
  for (const { inLanguages } of all) inLanguages.get(tag)?.begin();
});

/**
 * Creates the texts of screens. They are loaded after the code that uses them, and only in the current language.
 *
 * @param files loaders by path, `<language>/…/<name>.ts`, as `import.meta.glob` finds them
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
 * Loads the texts of all code that was loaded.
 *
 * @throws the error of the first that cannot be loaded
 */
export async function loadPageWords(): Promise<void> {
  const tag = language.peek();
  await Promise.all([...all].map(({ inLanguages }) => inLanguages.get(tag)?.loaded()));
}
