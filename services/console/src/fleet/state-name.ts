import { t } from '../words/words.ts';
import type { State } from './fleet.ts';
import { hasStates } from './store.ts';

/** A state in words. That nothing is known of a vehicle is said only once the live API said what it knows. */
export function stateName(state: State): string {
  return isStateLoading(state) ? t().loading : t().states[state];
}

/** Words for what is not known of a vehicle, once the live API said what it knows. */
export function absentText(text: string): string {
  return hasStates.value ? text : t().loading;
}

export function isStateLoading(state: State): boolean {
  return state === 'unknown' && !hasStates.value;
}
