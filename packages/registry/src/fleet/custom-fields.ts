import {
  type CustomAttributes,
  type CustomFields,
  type Driver,
  type Geofence,
  NO_CUSTOM_FIELDS,
  type UserId,
  type Vehicle,
} from '@outrider/domain';
import { membersOfOrganisation } from '../accounts/owners.ts';
import { ConflictError } from '../store/errors.ts';
import { inChunks } from '../store/lists.ts';
import type { CustomColumns } from '../store/schema.ts';
import type { Reader, Writer } from '../store/store.ts';
import type { BulkPlan } from './bulk.ts';

/** Fields of a definition; custom fields are optional. */
export type WithCustomFields<Fields extends CustomFields> = Omit<Fields, keyof CustomFields> & Partial<CustomFields>;

const TABLES = {
  user: 'users',
  vehicle: 'vehicles',
  group: 'vehicleGroups',
  geofence: 'geofences',
  driver: 'drivers',
} as const;
type Kind = keyof typeof TABLES;

/** @param row lacks these columns where an earlier migration reads it */
export function customFieldsOf({ externalId = null, customAttributes = null }: Partial<CustomColumns>): CustomFields {
  const attributes = customAttributes === null ? {} : (JSON.parse(customAttributes) as CustomAttributes);
  return { externalId, customAttributes: attributes };
}

export function customColumnsOf({ externalId, customAttributes }: CustomFields): CustomColumns {
  const isEmpty = Object.keys(customAttributes).length === 0;
  return { externalId, customAttributes: isEmpty ? null : JSON.stringify(customAttributes) };
}

/** Custom fields of a new definition. */
export function newCustomFields({ externalId, customAttributes }: Partial<CustomFields>): CustomFields {
  return {
    externalId: externalId ?? NO_CUSTOM_FIELDS.externalId,
    customAttributes: customAttributes ?? NO_CUSTOM_FIELDS.customAttributes,
  };
}

/**
 * @param dealerId the dealer (null: the operator) among whose definitions the external id is unique
 * @throws {ConflictError} when another definition has it
 */
export async function requireFreeExternalId(
  { tx }: Writer,
  { kind, id, externalId }: { kind: Kind; id: string; externalId: string | null },
  dealerId: UserId | null,
): Promise<void> {
  if (externalId === null) return;
  const holders = await holdersOf(tx, kind, dealerId, [externalId]);
  if (holders.some((holder) => holder.id !== id)) throw new ConflictError(kind, 'externalId', externalId);
}

/** Fails every write whose external id another definition of the same dealer would have as well. */
export async function checkExternalIds<T extends Vehicle | Driver | Geofence>(
  { tx }: Writer,
  plan: BulkPlan<T>,
  kind: T['kind'],
  dealerOf: (definition: T) => UserId | null,
): Promise<void> {
  const keyOf = (definition: T) =>
    definition.externalId === null ? null : `${dealerOf(definition) ?? ''} ${definition.externalId}`;
  await plan.checkUnique(
    keyOf,
    async (keys) => {
      const wanted = new Map<string, string[]>();
      for (const key of keys) {
        const [dealer, externalId] = partsOf(key);
        wanted.set(dealer, [...(wanted.get(dealer) ?? []), externalId]);
      }
      const found: { id: string; value: string }[] = [];
      for (const [dealer, externalIds] of wanted)
        for (const holder of await holdersOf(tx, kind, dealer === '' ? null : (dealer as UserId), externalIds))
          found.push({ id: holder.id, value: `${dealer} ${holder.externalId}` });
      return found;
    },
    (key) => new ConflictError(kind, 'externalId', partsOf(key)[1]),
  );
}

function partsOf(key: string): [dealer: string, externalId: string] {
  const end = key.indexOf(' ');
  return [key.slice(0, end), key.slice(end + 1)];
}

/** The external id, if it is free under the new dealer (null: the operator); else null. */
export async function externalIdUnder(
  { tx }: Writer,
  { kind, externalId }: { kind: Kind; externalId: string | null },
  dealerId: UserId | null,
): Promise<string | null> {
  if (externalId === null) return null;
  return (await holdersOf(tx, kind, dealerId, [externalId])).length === 0 ? externalId : null;
}

/** Removes external ids that the operator uses already from what a deleted dealer leaves to the operator. */
export async function dropTakenExternalIds(
  { tx }: Writer,
  table: 'users' | 'vehicles',
  dealerId: UserId,
): Promise<void> {
  await tx
    .updateTable(table)
    .set({ externalId: null })
    .where('dealerId', '=', dealerId)
    .where('externalId', 'in', (e) =>
      e
        .selectFrom(table)
        .select('externalId as taken')
        .where('dealerId', 'is', null)
        .where('externalId', 'is not', null),
    )
    .execute();
}

async function holdersOf(
  db: Reader,
  kind: Kind,
  dealerId: UserId | null,
  externalIds: readonly string[],
): Promise<{ id: string; externalId: string | null }[]> {
  const found: { id: string; externalId: string | null }[] = [];
  for (const some of inChunks(externalIds)) {
    if (kind === 'geofence') {
      const query = db.selectFrom('geofences').select(['id', 'externalId']).where('externalId', 'in', some);
      found.push(...(await query.where('ownerId', 'in', membersOfOrganisation(db, dealerId)).execute()));
    } else {
      const query = db.selectFrom(TABLES[kind]).select(['id', 'externalId']).where('externalId', 'in', some);
      found.push(...(await query.where('dealerId', dealerId === null ? 'is' : '=', dealerId).execute()));
    }
  }
  return found;
}
