import type { Vehicle } from '@outrider/client';
import type { Fleet } from '../../fleet/fleet.ts';

/**
 * Updates a loaded list with live data: with changed vehicles, and without those that were deleted or that the caller
 * may no longer see.
 */
export class LiveRows {
  readonly #known = new Set<string>();

  of(items: readonly Vehicle[], fleet: Pick<Fleet, 'indexOf' | 'vehicles'>): Vehicle[] {
    return items.flatMap((item) => {
      const now = fleet.vehicles[fleet.indexOf(item.id)];
      if (now !== undefined) this.#known.add(item.id);
      // A newly added vehicle may not have arrived by the live API yet.
      return now ?? (this.#known.has(item.id) ? [] : [item]);
    });
  }
}
