import { formats } from '../format.ts';
import { nowOfMap } from './past.ts';
import { fleet } from './store.ts';

/** Age of a vehicle's last contact as text; empty if none existed. */
export function ageOf(index: number): string {
  const contactMs = fleet.contactMs[index] ?? 0;
  return contactMs === 0 ? '' : formats().ago((nowOfMap() - contactMs) / 1000);
}
