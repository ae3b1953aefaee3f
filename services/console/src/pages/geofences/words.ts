import type { fences } from '../../words/en/geofences.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the pages of geofences. */
export const geofenceWords = pageWords(
  import.meta.glob<typeof fences>('../../words/*/geofences.ts', { import: 'fences' }),
);
