import type { reports } from '../../words/en/reports.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the reports. */
export const reportWords = pageWords(
  import.meta.glob<typeof reports>('../../words/*/reports.ts', { import: 'reports' }),
);
