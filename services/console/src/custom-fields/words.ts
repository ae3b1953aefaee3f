import { customFields as de } from '../words/de/custom-fields.ts';
import { customFields as en } from '../words/en/custom-fields.ts';
import { customFields as es } from '../words/es/custom-fields.ts';
import { customFields as he } from '../words/he/custom-fields.ts';
import { pageWords } from '../words/page-words.ts';
import { customFields as ru } from '../words/ru/custom-fields.ts';

/** Words of what clients keep with things. */
export const customFieldWords = pageWords({ en, ru, de, es, he });

/** Labels of the fields, beside those of a form. */
export function customFieldLabels(): { externalId: string; customAttributes: string } {
  const { externalId, attributes } = customFieldWords();
  return { externalId, customAttributes: attributes };
}
