import {
  type Definition,
  type DefinitionChange,
  hiddenUrl,
  isSecretAddress,
  type NotificationRule,
  type User,
} from '@outrider/domain';
import { toUserRow } from '../accounts/user-rows.ts';
import { replaceGroups } from '../fleet/bulk.ts';
import { toDriverRow, writeCodes } from '../fleet/drivers.ts';
import { toGeofenceRow } from '../fleet/geofences.ts';
import { toGroupRow } from '../fleet/groups.ts';
import { toVehicleRow } from '../fleet/vehicles.ts';
import { sealedUrl, setReferences, toRuleRow } from '../notifications/notification-rules.ts';
import { inChunks } from '../store/lists.ts';
import type { Tables } from '../store/schema.ts';
import type { Secrets } from '../store/secrets.ts';
import type { Writer } from '../store/store.ts';
import { toProfileRow } from '../video/video-profiles.ts';

/** A change that is no deletion. */
export type WrittenChange = DefinitionChange & { definition: Definition };

type Of<Kind extends Definition['kind']> = Extract<Definition, { kind: Kind }>;

/**
 * Writes definitions into the tables unchanged, in place of those with the same ids: the inverse of `definitionsOf`.
 * Existing rows keep what definitions do not contain: passwords, URLs and secrets of webhooks, addresses of streams.
 * Message channels that do not exist are removed from rules, and the rule gets a new version. So does a rule of an
 * earlier release, whose URL was not hidden.
 */
export async function writeDefinitions(
  writer: Writer,
  changes: readonly WrittenChange[],
  secrets: Secrets,
): Promise<void> {
  const { tx } = writer;
  const byKind = Map.groupBy(
    changes.map(({ definition }) => definition),
    ({ kind }) => kind,
  );
  const of = <Kind extends Definition['kind']>(kind: Kind) => (byKind.get(kind) ?? []) as Of<Kind>[];
  // Accounts without a dealer come first, because users refer to their dealer.
  const users = of('user').sort((one, other) => Number(one.dealerId !== null) - Number(other.dealerId !== null));
  const [groups, vehicles, drivers, geofences] = [of('group'), of('vehicle'), of('driver'), of('geofence')];
  await giveUpNames(writer, byKind);
  for (const user of users) await put(writer, 'users', await userRow(writer, user), []);
  for (const group of groups) await put(writer, 'vehicleGroups', toGroupRow(group), []);
  await replaceGroups(writer, 'userGroupAccess', users);
  for (const vehicle of vehicles) await put(writer, 'vehicles', toVehicleRow(vehicle), []);
  await replaceGroups(writer, 'vehicleGroupMembers', vehicles);
  for (const driver of drivers) {
    await put(writer, 'drivers', toDriverRow(driver), []);
    await writeCodes(writer, driver);
  }
  await replaceGroups(writer, 'driverGroupMembers', drivers);
  for (const geofence of geofences) await put(writer, 'geofences', toGeofenceRow(geofence), []);
  for (const some of inChunks(geofences.map(({ id }) => id)))
    await tx.deleteFrom('deletedGeofences').where('id', 'in', some).execute();
  await replaceGroups(writer, 'geofenceGroups', geofences);
  await replaceGroups(
    writer,
    'geofenceShares',
    geofences.map(({ id, sharedGroupIds }) => ({ id, groupIds: sharedGroupIds })),
  );
  const rules = new Map<string, NotificationRule>();
  for (const rule of of('notification-rule')) {
    const kept = withHiddenUrl(await withKnownChannels(writer, rule));
    rules.set(kept.id, kept);
    const isWhole = kept.webhookUrl !== rule.webhookUrl;
    const webhookUrl = isWhole ? sealedUrl(secrets, rule.id, rule.webhookUrl) : null;
    const row = { ...toRuleRow(kept), webhookUrl, webhookSecret: null };
    await put(writer, 'notificationRules', row, isWhole ? ['webhookSecret'] : ['webhookUrl', 'webhookSecret']);
    await setReferences(writer, kept);
  }
  for (const profile of of('video-profile'))
    await put(writer, 'videoProfiles', toProfileRow(profile, secrets), isSecretAddress(profile) ? ['address'] : []);
  for (const change of changes) {
    const definition = rules.get(change.id) ?? change.definition;
    const isAsItWas = definition.version === change.definition.version;
    // An unchanged definition keeps its original time, so that it is recognised as the same change.
    writer.changes.push(isAsItWas ? change : { ...change, ...{ definition, version: definition.version } });
  }
}

type Row = { id: string; version: number };
type Table = 'users' | 'vehicleGroups' | 'vehicles' | 'drivers' | 'geofences' | 'notificationRules' | 'videoProfiles';

/** @param kept columns that keep their values where the row exists */
async function put<Name extends Table, Of extends Tables[Name] & Row>(
  { tx }: Writer,
  table: Name,
  row: Of,
  kept: readonly (keyof Of)[],
): Promise<void> {
  const columns = Object.fromEntries(Object.entries(row).filter(([name]) => !['id', ...kept].includes(name)));
  await tx
    .insertInto(table as 'users')
    .values(row as never)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
    .execute();
}

/**
 * Frees unique values first, because definitions may have exchanged them. The placeholder is unique, as no name holds a
 * control character.
 */
async function giveUpNames({ tx }: Writer, byKind: ReadonlyMap<Definition['kind'], Definition[]>): Promise<void> {
  const idsOf = (kind: Definition['kind']) => (byKind.get(kind) ?? []).map(({ id }) => id);
  const unique = [
    ['user', 'users', 'loginKey'],
    ['group', 'vehicleGroups', 'name'],
    ['geofence', 'geofences', 'name'],
    ['notification-rule', 'notificationRules', 'name'],
  ] as const;
  for (const [kind, table, column] of unique)
    for (const id of idsOf(kind))
      await tx
        .updateTable(table as 'users')
        .set({ [column]: `\u0001${id}` })
        .where('id', '=', id)
        .execute();
  for (const some of inChunks(idsOf('vehicle')))
    await tx.updateTable('vehicles').set({ terminalId: null }).where('id', 'in', some).execute();
  for (const some of inChunks(idsOf('video-profile')))
    await tx.updateTable('videoProfiles').set({ addressKey: null }).where('id', 'in', some).execute();
  for (const some of inChunks(idsOf('driver')))
    await tx.deleteFrom('driverCodes').where('driverId', 'in', some).execute();
}

/**
 * A definition has that an account is blocked, but not why. The reason is its dealer or its expiry where one of them
 * applies, else the account itself.
 */
async function userRow({ tx }: Writer, user: User) {
  const rowOf = (id: string) =>
    tx.selectFrom('users').select(['blocked', 'expired']).where('id', '=', id).executeTakeFirst();
  const dealer = user.dealerId === null ? undefined : await rowOf(user.dealerId);
  const byDealer = user.blocked && (dealer?.blocked === 1 || dealer?.expired === 1);
  const expired = user.blocked && (await rowOf(user.id))?.expired === 1;
  return toUserRow(user, { own: user.blocked && !byDealer && !expired, byDealer, expired });
}

async function withKnownChannels({ tx }: Writer, rule: NotificationRule): Promise<NotificationRule> {
  if (rule.channelIds.length === 0) return rule;
  const rows = await tx.selectFrom('messageChannels').select('id').where('id', 'in', rule.channelIds).execute();
  const known = new Set(rows.map(({ id }) => id));
  const channelIds = rule.channelIds.filter((id) => known.has(id));
  return channelIds.length === rule.channelIds.length ? rule : { ...rule, channelIds, version: rule.version + 1 };
}

function withHiddenUrl(rule: NotificationRule): NotificationRule {
  const webhookUrl = rule.webhookUrl && hiddenUrl(rule.webhookUrl);
  return webhookUrl === rule.webhookUrl ? rule : { ...rule, webhookUrl, version: rule.version + 1 };
}
