import { t } from '../words/words.ts';
import type { State } from './fleet.ts';
import { hasStates } from './store.ts';

/** A state in words. That nothing is known of a vehicle is said only once the live API said what it knows. */
export function stateName(state: State): string {
  return isStateLoading(state) ? t().loading : t().states[state];
}

export function isStateLoading(state: State): boolean {
  return state === 'unknown' && !hasStates.value;
}
