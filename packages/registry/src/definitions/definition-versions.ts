import { asChange, changeVersionOf, type Definition, type DefinitionKind } from '@outrider/domain';
import { loadUsers } from '../accounts/user-rows.ts';
import { loadDrivers } from '../fleet/drivers.ts';
import { loadGeofences } from '../fleet/geofences.ts';
import { fromGroupRow } from '../fleet/groups.ts';
import { accessOf, loadVehicles } from '../fleet/vehicles.ts';
import { loadRules } from '../notifications/notification-rules.ts';
import { inChunks } from '../store/lists.ts';
import type { Reader, Writer } from '../store/store.ts';
import { fromProfileRow } from '../video/video-profiles.ts';

/** A definition by name, and the version of its last change. */
export interface DefinitionVersion {
  kind: DefinitionKind;
  id: string;
  version: number;
}

const TABLES = {
  group: 'vehicleGroups',
  user: 'users',
  vehicle: 'vehicles',
  geofence: 'geofences',
  'notification-rule': 'notificationRules',
  'video-profile': 'videoProfiles',
  driver: 'drivers',
} as const satisfies Record<DefinitionKind, string>;
/** Groups and users come before what names them. */
export const DEFINITION_KINDS = Object.keys(TABLES) as DefinitionKind[];
const AT_ONCE = 5000;

/** The versions of all definitions, by the page. */
export async function* definitionVersions(db: Reader): AsyncGenerator<DefinitionVersion[]> {
  for (const kind of DEFINITION_KINDS) {
    for (let after = ''; ; ) {
      const rows = kind === 'vehicle' ? await vehicleVersions(db, after) : await versionsIn(TABLES[kind], db, after);
      if (rows.length > 0) yield rows.map(({ id, version }) => ({ kind, id, version }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < AT_ONCE) break;
      after = last.id;
    }
  }
}

function versionsIn(table: (typeof TABLES)[DefinitionKind], db: Reader, after: string) {
  const query = db.selectFrom(table).select(['id', 'version']).where('id', '>', after);
  return query.orderBy('id').limit(AT_ONCE).execute();
}

async function vehicleVersions(db: Reader, after: string): Promise<{ id: string; version: number }[]> {
  const query = db.selectFrom('vehicles').select(['id', 'version', 'terminalAccess']).where('id', '>', after);
  const rows = await query.orderBy('id').limit(AT_ONCE).execute();
  return rows.map(({ id, version, terminalAccess }) => ({ id, version: version + accessOf(terminalAccess).revision }));
}

/** @see Registry.outrunVersions */
export async function outrunVersions(writer: Writer, seen: readonly DefinitionVersion[]): Promise<void> {
  for (const [kind, some] of Map.groupBy(seen, (each) => each.kind)) {
    const versions = new Map(some.map(({ id, version }) => [id, version]));
    for (const definition of await definitionsOf(writer.tx, kind, [...versions.keys()])) {
      const raised = (versions.get(definition.id) ?? 0) + 1 - changeVersionOf(definition);
      const next = { ...definition, version: definition.version + raised };
      await writer.tx.updateTable(TABLES[kind]).set({ version: next.version }).where('id', '=', next.id).execute();
      writer.changes.push(asChange(next, writer.nowMs));
    }
  }
}

/** Definitions of one kind as they are now; those that are gone are missing. */
export async function definitionsOf(db: Reader, kind: DefinitionKind, ids: readonly string[]): Promise<Definition[]> {
  switch (kind) {
    case 'user':
      return loadUsers(db, ids);
    case 'vehicle':
      return loadVehicles(db, ids);
    case 'geofence':
      return loadGeofences(db, ids);
    case 'notification-rule':
      return loadRules(db, ids);
    case 'driver':
      return loadDrivers(db, ids);
    case 'group': {
      const groups: Definition[] = [];
      for (const some of inChunks(ids))
        groups.push(
          ...(await db.selectFrom('vehicleGroups').selectAll().where('id', 'in', some).execute()).map(fromGroupRow),
        );
      return groups;
    }
    case 'video-profile': {
      const profiles: Definition[] = [];
      for (const some of inChunks(ids))
        profiles.push(
          ...(await db.selectFrom('videoProfiles').selectAll().where('id', 'in', some).execute()).map(fromProfileRow),
        );
      return profiles;
    }
  }
}
