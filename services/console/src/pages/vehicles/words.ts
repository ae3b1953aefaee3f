import type { vehicles } from '../../words/en/fleet/vehicles.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of vehicles. */
export const vehicleWords = pageWords(
  import.meta.glob<typeof vehicles>('../../words/*/fleet/vehicles.ts', { import: 'vehicles' }),
);
