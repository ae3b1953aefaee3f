import { t } from '../../words/words.ts';

export function kindName(kind: string): string {
  return t().events[kind] ?? kind;
}
