import type { maintenanceImport } from '../../words/en/fleet/maintenance-import.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of the import of maintenance plans and counter readings. */
export const maintenanceImportWords = pageWords(
  import.meta.glob<typeof maintenanceImport>('../../words/*/fleet/maintenance-import.ts', {
    import: 'maintenanceImport',
  }),
);
