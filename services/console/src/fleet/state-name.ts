import { t } from '../words/words.ts';
import type { State } from './fleet.ts';
import { hasStates } from './store.ts';

/** Name of a state. Until the live API has sent all states, an unknown state is shown as loading. */
export function stateName(state: State): string {
  return isStateLoading(state) ? t().loading : t().states[state];
}

/** Text for missing data of a vehicle. Until the live API has sent all states, it is shown as loading. */
export function absentText(text: string): string {
  return hasStates.value ? text : t().loading;
}

export function isStateLoading(state: State): boolean {
  return state === 'unknown' && !hasStates.value;
}
