import type { Geofence, GeofenceId } from '@outrider/domain';
import type { GeofenceFields, Job, Page, Paging } from '@outrider/registry';
import { AccessPart } from '../checks.ts';
import type { TimeRange } from '../job-access.ts';
import { JobAccess } from '../job-access.ts';
import { requireRight, visibleGeofences } from '../rights.ts';
import { type Search, type SearchPage, searched } from '../search.ts';
import { type CustomFilter, customMatcher } from './custom-fields.ts';

/** Geofences that one caller may see. */
export class GeofenceAccess extends AccessPart {
  async get(id: GeofenceId): Promise<Geofence> {
    return this.checks.shown(await this.checks.geofence(id, 'read'));
  }

  /** @param ownOnly only the caller's own, instead of all that the caller may see */
  async page(paging: Paging, ownOnly = false): Promise<Page<Geofence>> {
    const filter = ownOnly ? { ownerId: this.caller.id } : visibleGeofences(this.caller);
    const page = await this.sources.registry.geofences.list(filter, paging);
    return this.checks.page(page, (geofence) => this.checks.rightToGeofence(geofence));
  }

  /** Geofences that the caller may see, searched and sorted. */
  find(search: Search<'name' | 'externalId'>, custom: CustomFilter = {}): SearchPage<Geofence> {
    const isWanted = customMatcher(custom);
    const visible = [...this.sources.directory.geofences.values()].filter(
      (geofence) => this.checks.rightToGeofence(geofence) !== 'none' && isWanted?.(geofence) !== false,
    );
    return this.checks.found(searched(visible, ['name', 'externalId'], search));
  }

  async add(fields: Omit<GeofenceFields, 'ownerId'>): Promise<Geofence> {
    requireRight(this.caller, 'edit-geofences');
    if (fields.groupIds) await this.checks.requireGroups(fields.groupIds, '/properties/groupIds');
    await this.checks.requireGroups(fields.sharedGroupIds, '/properties/sharedGroupIds');
    return this.checks.shown(await this.sources.registry.geofences.create({ ...fields, ownerId: this.caller.id }));
  }

  /** @param change computes the new fields from the current ones */
  async change(
    id: GeofenceId,
    ifMatch: number | null,
    change: (current: Geofence) => Promise<Omit<GeofenceFields, 'ownerId'>>,
  ): Promise<Geofence> {
    const current = await this.checks.geofence(id, 'write');
    const fields = await change(this.checks.shown(current));
    const named = await this.checks.groupsFrom(current.groupIds ?? [], fields.groupIds, '/properties/groupIds');
    const shares = await this.checks.groupsFrom(
      current.sharedGroupIds,
      fields.sharedGroupIds,
      '/properties/sharedGroupIds',
    );
    // The fields were merged with this version, so that a concurrent change is not lost.
    const version = ifMatch ?? current.version;
    return this.checks.shown(
      await this.sources.registry.geofences.update(id, version, {
        ...fields,
        ...named,
        ...(shares.groupIds && { sharedGroupIds: shares.groupIds }),
      }),
    );
  }

  async remove(id: GeofenceId, ifMatch: number | null): Promise<void> {
    await this.checks.geofence(id, 'write');
    await this.sources.registry.geofences.delete(id, ifMatch);
  }

  async recalculate(id: GeofenceId, range: TimeRange): Promise<Job> {
    return new JobAccess(this.caller, this.sources).recalculateGeofence(await this.checks.geofence(id, 'write'), range);
  }
}
