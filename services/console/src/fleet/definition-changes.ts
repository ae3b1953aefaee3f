import type { DefinitionChange } from '@outrider/client';
import { rereadDrivers } from '../drivers/drivers.ts';
import { api } from '../session.ts';
import { fleet, loadDefinitions, loadGeofences, loadGroups } from './store.ts';

/** Changes within this time are read together. */
const GATHER_MS = 300;
/** If more vehicles than this have changed, the whole list is read. */
const MOST_SINGLE_READS = 20;

/** Applies changes of definitions from the live API: removes at once, reads the rest again by REST. */
export class DefinitionChanges {
  readonly #onAdded: () => void;
  readonly #vehicles = new Set<string>();
  readonly #kinds = new Set<DefinitionChange['kind']>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** @param onAdded called when new vehicles appeared, whose positions must be requested */
  constructor(onAdded: () => void) {
    this.#onAdded = onAdded;
  }

  take(changes: readonly DefinitionChange[]): void {
    for (const { kind, id, change } of changes) {
      if (kind === 'vehicle' && change === 'removed') {
        this.#vehicles.delete(id);
        fleet.remove(id);
      } else if (kind === 'vehicle') this.#vehicles.add(id);
      else this.#kinds.add(kind);
    }
    if (this.#vehicles.size + this.#kinds.size > 0) this.#timer ??= setTimeout(() => void this.#read(), GATHER_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #read(): Promise<void> {
    this.#timer = null;
    const ids = [...this.#vehicles];
    const kinds = new Set(this.#kinds);
    this.#vehicles.clear();
    this.#kinds.clear();
    const before = fleet.count;
    if (ids.length > MOST_SINGLE_READS) await loadDefinitions();
    else {
      const reads: Promise<unknown>[] = ids.map((id) =>
        // A vehicle that was deleted meanwhile is removed by the next message.
        api.get('/api/v1/vehicles/{id}', { path: { id } }).then((vehicle) => fleet.put(vehicle)),
      );
      if (kinds.has('group')) reads.push(loadGroups());
      if (kinds.has('geofence')) reads.push(loadGeofences());
      if (kinds.has('driver')) reads.push(rereadDrivers());
      await Promise.allSettled(reads);
    }
    if (fleet.count > before) this.#onAdded();
  }
}
