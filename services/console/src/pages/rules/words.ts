import type { rules } from '../../words/en/rules.ts';
import { pageWords } from '../../words/page-words.ts';

/** Words of notification rules and deliveries. */
export const ruleWords = pageWords(import.meta.glob<typeof rules>('../../words/*/rules.ts', { import: 'rules' }));
