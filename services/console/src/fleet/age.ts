import { formats } from '../format.ts';
import { nowOfMap } from './past.ts';
import { fleet } from './store.ts';

/** How long ago the last contact of a vehicle was; empty where there was never one. */
export function ageOf(index: number): string {
  const contactMs = fleet.contactMs[index] ?? 0;
  return contactMs === 0 ? '' : formats().ago((nowOfMap() - contactMs) / 1000);
}
