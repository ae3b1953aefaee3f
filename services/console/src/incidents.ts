import { signal } from '@preact/signals';
import { api } from './session.ts';

/** How many incidents nobody has acknowledged. Null: not known yet. */
export const openIncidentCount = signal<number | null>(null);

/** Changes of incidents within this time cause only one count. */
const COUNT_AFTER_MS = 300;
let isCounting = false;

/** Schedules a count, after a change or a possible change. */
export function countIncidents(): void {
  if (isCounting) return;
  isCounting = true;
  setTimeout(() => {
    isCounting = false;
    api.get('/api/v1/incidents', { query: { limit: 1, state: 'open' } }).then(
      ({ openCount }) => (openIncidentCount.value = openCount),
      // After a failure, the next change causes another count.
      () => {},
    );
  }, COUNT_AFTER_MS);
}
