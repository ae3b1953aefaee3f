import type { drivers } from '../words/en/fleet/drivers.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of drivers. */
export const driverWords = pageWords(
  import.meta.glob<typeof drivers>('../words/*/fleet/drivers.ts', { import: 'drivers' }),
);
