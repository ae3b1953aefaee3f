import { signal } from '@preact/signals';
import { api } from './session.ts';

/** How many incidents nobody has acknowledged. Null: not known yet. */
export const openIncidentCount = signal<number | null>(null);

/** Many incidents that change at once are counted once. */
const COUNT_AFTER_MS = 300;
let isCounting = false;

/** Counts soon: something changed, or may have. */
export function countIncidents(): void {
  if (isCounting) return;
  isCounting = true;
  setTimeout(() => {
    isCounting = false;
    api.get('/api/v1/incidents', { query: { limit: 1, state: 'open' } }).then(
      ({ openCount }) => (openIncidentCount.value = openCount),
      // What is not known now is counted with the next change.
      () => {},
    );
  }, COUNT_AFTER_MS);
}
