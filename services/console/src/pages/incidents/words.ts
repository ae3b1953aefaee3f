import type { incidents } from '../../words/en/incidents.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of incidents. */
export const incidentWords = pageWords(
  import.meta.glob<typeof incidents>('../../words/*/incidents.ts', { import: 'incidents' }),
);
