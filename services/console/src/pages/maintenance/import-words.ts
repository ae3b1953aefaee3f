import { de } from '../../words/de/maintenance-import.ts';
import { en } from '../../words/en/maintenance-import.ts';
import { es } from '../../words/es/maintenance-import.ts';
import { he } from '../../words/he/maintenance-import.ts';
import { pageWords } from '../../words/page-words.ts';
import { ru } from '../../words/ru/maintenance-import.ts';

/** Words of the import of maintenance plans and counter readings. */
export const maintenanceImportWords = pageWords({ en, ru, de, es, he });
