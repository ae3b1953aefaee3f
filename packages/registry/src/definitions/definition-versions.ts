import { asChange, changeVersionOf, type Definition, type DefinitionKind } from '@outrider/domain';
import { USERS } from '../accounts/user-rows.ts';
import { DRIVERS } from '../fleet/drivers.ts';
import { GEOFENCES } from '../fleet/geofences.ts';
import { GROUPS } from '../fleet/groups.ts';
import { accessOf, VEHICLES } from '../fleet/vehicles.ts';
import { RULES } from '../notifications/notification-rules.ts';
import { DEFINITION_TABLES, type DefinitionTable, type StoredDefinitions } from '../store/resource.ts';
import type { Reader, Writer } from '../store/store.ts';
import { PROFILES } from '../video/video-profiles.ts';

/** Identifies a definition, with the version of its last change. */
export interface DefinitionVersion {
  kind: DefinitionKind;
  id: string;
  version: number;
}

export const DEFINITION_KINDS = Object.keys(DEFINITION_TABLES) as DefinitionKind[];
const STORED: { [Kind in DefinitionKind]: Pick<StoredDefinitions<Of<Kind>, never>, 'load' | 'all'> } = {
  group: GROUPS,
  user: USERS,
  vehicle: VEHICLES,
  geofence: GEOFENCES,
  'notification-rule': RULES,
  'video-profile': PROFILES,
  driver: DRIVERS,
};
type Of<Kind extends DefinitionKind> = Extract<Definition, { kind: Kind }>;
const AT_ONCE = 5000;

/** The versions of all definitions, in pages. */
export async function* definitionVersions(db: Reader): AsyncGenerator<DefinitionVersion[]> {
  for (const kind of DEFINITION_KINDS) {
    for (let after = ''; ; ) {
      const rows =
        kind === 'vehicle' ? await vehicleVersions(db, after) : await versionsIn(DEFINITION_TABLES[kind], db, after);
      if (rows.length > 0) yield rows.map(({ id, version }) => ({ kind, id, version }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < AT_ONCE) break;
      after = last.id;
    }
  }
}

function versionsIn(table: DefinitionTable, db: Reader, after: string) {
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
      await writer.tx
        .updateTable(DEFINITION_TABLES[kind])
        .set({ version: next.version })
        .where('id', '=', next.id)
        .execute();
      writer.changes.push(asChange(next, writer.nowMs));
    }
  }
}

/** Current definitions of one kind; deleted ones are missing. */
export function definitionsOf(db: Reader, kind: DefinitionKind, ids: readonly string[]): Promise<Definition[]> {
  return STORED[kind].load(db, ids);
}

/** All current definitions; groups and users come before definitions that refer to them. */
export async function allDefinitions(db: Reader): Promise<Definition[]> {
  const definitions: Definition[] = [];
  for (const kind of DEFINITION_KINDS) for (const each of await STORED[kind].all(db)) definitions.push(each);
  return definitions;
}
