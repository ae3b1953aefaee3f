import type { customFields } from '../words/en/fleet/custom-fields.ts';
import { pageWords } from '../words/page-words.ts';

/** Texts for external ids and custom attributes. */
export const customFieldWords = pageWords(
  import.meta.glob<typeof customFields>('../words/*/fleet/custom-fields.ts', { import: 'customFields' }),
);

/** Labels of the fields, beside those of a form. */
export function customFieldLabels(): { externalId: string; customAttributes: string } {
  const { externalId, attributes } = customFieldWords();
  return { externalId, customAttributes: attributes };
}
