import type { Vehicle } from '@outrider/client';
import type { Fleet } from '../../fleet/fleet.ts';

/**
 * Keeps a list that was read from the API as the live API says it is now: with changed vehicles, without those that are
 * gone or that the caller may no longer see.
 */
export class LiveRows {
  readonly #known = new Set<string>();

  of(items: readonly Vehicle[], fleet: Pick<Fleet, 'indexOf' | 'vehicles'>): Vehicle[] {
    return items.flatMap((item) => {
      const now = fleet.vehicles[fleet.indexOf(item.id)];
      if (now !== undefined) this.#known.add(item.id);
      // One that was just added may not be known yet.
      return now ?? (this.#known.has(item.id) ? [] : [item]);
    });
  }
}
