import type { drivers } from '../words/en/drivers.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of drivers. */
export const driverWords = pageWords(import.meta.glob<typeof drivers>('../words/*/drivers.ts', { import: 'drivers' }));
