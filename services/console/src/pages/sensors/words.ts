import { de } from '../../words/de/sensors.ts';
import { en } from '../../words/en/sensors.ts';
import { es } from '../../words/es/sensors.ts';
import { he } from '../../words/he/sensors.ts';
import { pageWords } from '../../words/page-words.ts';
import { ru } from '../../words/ru/sensors.ts';

/** Words of the sensors’ screens. */
export const words = pageWords({ en, ru, de, es, he });
