import type { sensors } from '../../words/en/fleet/sensors.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the sensors’ screens. */
export const words = pageWords(
  import.meta.glob<typeof sensors>('../../words/*/fleet/sensors.ts', { import: 'sensors' }),
);
