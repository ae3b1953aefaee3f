import { type Geofence, type GeofenceId, pagesOf } from '@outrider/domain';
import type { BulkWrite, GeofenceFields } from '@outrider/registry';
import type { Faults } from '../faults.ts';
import { requireRight } from '../rights.ts';
import { type BulkScope, collectingFaults, type Imported, paired } from './bulk-scope.ts';

/** Geofences that an export reads at once: one may have ten thousand points. */
const PAGE = 50;

/** A geofence of an import. If its `id` is that of a geofence of the caller, that one is changed. */
export interface GeofenceItem {
  /** Index among the items sent. */
  index: number;
  id: string | null;
  fields: Omit<GeofenceFields, 'ownerId'>;
}

/** Exports all geofences of a caller, and imports those of a file. */
export class GeofenceImport {
  readonly #scope: BulkScope;

  constructor(scope: BulkScope) {
    this.#scope = scope;
  }

  /** Geofences in pages: the caller's own, or all that the caller may see. */
  async *all(ownOnly: boolean): AsyncGenerator<Geofence[]> {
    const { geofences } = this.#scope.access;
    for await (const { items } of pagesOf((after: string | null) => geofences.page({ limit: PAGE, after }, ownOnly)))
      yield items;
  }

  /**
   * Adds and changes geofences of the caller: all of them, or none.
   *
   * @param faults faults already found in the items
   * @throws {Problem} with all faults
   */
  async import(
    items: readonly GeofenceItem[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<Imported<GeofenceItem, Geofence>[]> {
    requireRight(this.#scope.caller, 'edit-geofences');
    const indexOf = new Map<string, number>();
    const writes = items.map(({ index, id, fields }): BulkWrite<GeofenceId, Omit<GeofenceFields, 'ownerId'>> => {
      const at = `/features/${index}`;
      for (const list of ['groupIds', 'sharedGroupIds'] as const)
        for (const [nth, groupId] of (fields[list] ?? []).entries())
          if (!this.#scope.seesGroup(groupId))
            faults.add({ pointer: `${at}/properties/${list}/${nth}`, detail: 'There is no such group.' });
      const known = id === null ? undefined : this.#scope.sources.directory.geofences.get(id as GeofenceId);
      if (known?.ownerId !== this.#scope.caller.id) return { id: null, fields };
      const earlier = indexOf.get(known.id);
      if (earlier !== undefined) faults.add({ pointer: `${at}/id`, detail: `Feature ${earlier} has the same id.` });
      indexOf.set(known.id, index);
      const unseen = fields.groupIds ? (known.groupIds ?? []).filter((group) => !this.#scope.seesGroup(group)) : [];
      const groupIds = fields.groupIds && [...fields.groupIds, ...unseen];
      const unseenShares = known.sharedGroupIds.filter((group) => !this.#scope.seesGroup(group));
      const sharedGroupIds = [...fields.sharedGroupIds, ...unseenShares];
      return { id: known.id, expectedVersion: known.version, patch: { ...fields, groupIds, sharedGroupIds } };
    });
    faults.throwIfAny();
    const writing = this.#scope.sources.registry.geofences.writeAll(this.#scope.caller.id, writes, dryRun);
    const outcomes = await collectingFaults(writing, faults, (nth, field) => ({
      pointer: `/features/${items[nth]?.index}${field === null ? '' : `/properties/${field}`}`,
    }));
    return paired(items, outcomes);
  }
}
