import type { maintenance } from '../words/en/fleet/maintenance.ts';
import { pageWords } from '../words/page-words.ts';

/** Words of maintenance. */
export const maintenanceWords = pageWords(
  import.meta.glob<typeof maintenance>('../words/*/fleet/maintenance.ts', { import: 'maintenance' }),
);
