import type { Edit } from '../../parts/forms/edit.ts';
import type { RuleFields } from './draft.ts';

/** Errors of a list and of each of its items. */
export function listErrors(edit: Edit<RuleFields>, name: keyof RuleFields, length: number): string[] {
  const pointers = [`/${name}`, ...Array.from({ length }, (_, at) => `/${name}/${at}`)];
  return pointers.flatMap((pointer) => edit.at(pointer));
}
