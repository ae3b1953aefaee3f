import {
  DEFAULT_LICENCE_WARNING_DAYS,
  type DriverId,
  type GeofenceId,
  type GroupId,
  hiddenUrl,
  type InactiveReason,
  isHiddenUrl,
  type NotificationRule,
  type NotificationRuleId,
  namesNothing,
  type RuleList,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { sql } from 'kysely';
import { requireOwner } from '../accounts/owners.ts';
import { ConflictError, NamesNothingError, UnknownReferenceError } from '../store/errors.ts';
import { type Page, type Paging, readPage } from '../store/page.ts';
import { Resource, revised } from '../store/resource.ts';
import type { NotificationRuleRow, RuleReferenceRow } from '../store/schema.ts';
import type { Secrets } from '../store/secrets.ts';
import { inChunks, type Reader, type Store, type Writer } from '../store/store.ts';

/** Fields of a rule that the caller provides; the registry assigns the others. */
export type NotificationRuleFields = Omit<NotificationRule, 'kind' | 'id' | 'version' | 'inactiveReason'>;
/** URL of a rule's webhook, and the secret that signs its messages; null: it has none, or it was lost. */
export interface Webhook {
  url: string | null;
  secret: string | null;
}

/** Fields of a rule that can change: the owner cannot. */
export type NotificationRulePatch = Partial<Omit<NotificationRuleFields, 'ownerId'>>;

/** Matches rules for which every given field holds. */
export interface NotificationRuleFilter {
  ownerId?: UserId;
}

/** Recent activity of a rule. */
export interface RuleActivity {
  /** When it last notified its owner; null: never, or longer ago than notifications are kept. */
  lastNotifiedAtMs: number | null;
  /** Deliveries of the last 7 days that failed; {@link MAX_COUNTED} at most. */
  failedDeliveries: number;
}

/** Maximum to which failed deliveries of a rule are counted. */
const MAX_COUNTED = 1000;
const COUNTED_FOR_MS = 7 * 86_400_000;

type ReferenceKind = RuleReferenceRow['kind'];
type References = Pick<NotificationRule, RuleList>;

/** How each list of a rule is stored, and which table its ids refer to. */
const LISTS = [
  ['vehicleIds', 'vehicle', 'vehicles'],
  ['groupIds', 'group', 'vehicleGroups'],
  ['geofenceIds', 'geofence', 'geofences'],
  ['insideGeofenceIds', 'inside', 'geofences'],
  ['outsideGeofenceIds', 'outside', 'geofences'],
  ['driverIds', 'driver', 'drivers'],
  ['driverGroupIds', 'driver-group', 'vehicleGroups'],
] as const satisfies readonly (readonly [RuleList, ReferenceKind, string])[];

/** Notification rules, each with one owner. */
export class NotificationRules {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @param fields with the whole URL of a webhook
   * @param webhookSecret secret that signs webhook messages; null without a webhook
   * @throws {ConflictError} when the owner already has a rule of that name
   * @throws {UnknownReferenceError} when the owner or something that it names does not exist
   * @throws {NamesNothingError} when it is active and names nothing
   */
  create(fields: NotificationRuleFields, webhookSecret: string | null): Promise<NotificationRule> {
    const { secrets } = this.#store;
    return this.#store.write(async (writer) => {
      const rule: NotificationRule = {
        ...fields,
        ...sortedReferences(fields),
        webhookUrl: fields.webhookUrl && hiddenUrl(fields.webhookUrl),
        kind: 'notification-rule',
        id: writer.newId() as NotificationRuleId,
        version: 1,
        inactiveReason: fields.active ? null : 'switched-off',
      };
      await RULES.create(writer, rule);
      await writeWebhook(writer, rule.id, {
        webhookUrl: sealedUrl(secrets, rule.id, fields.webhookUrl),
        webhookSecret: sealedSecret(secrets, rule.id, webhookSecret),
      });
      return rule;
    });
  }

  get(id: NotificationRuleId): Promise<NotificationRule | null> {
    return RULES.get(this.#store.db, id);
  }

  /** Recent activity of the rules with these ids. */
  async activity(ids: readonly NotificationRuleId[]): Promise<Map<NotificationRuleId, RuleActivity>> {
    const known = new Map<NotificationRuleId, RuleActivity>();
    const sinceMs = this.#store.now() - COUNTED_FOR_MS;
    for (const some of inChunks(ids)) {
      const { rows } = await sql<{ id: string; lastMs: number | null; failed: number }>`
        select r.id,
          (select max(created_at_ms) from notifications where rule_id = r.id) as last_ms,
          (select count(*) from (select 1 from deliveries
            where rule_id = r.id and state = 'failed' and created_at_ms >= ${sinceMs} limit ${MAX_COUNTED}) f) as failed
        from notification_rules r where r.id in (${sql.join(some)})`.execute(this.#store.db);
      for (const { id, lastMs, failed } of rows)
        known.set(id as NotificationRuleId, {
          lastNotifiedAtMs: lastMs === null ? null : Number(lastMs),
          failedDeliveries: Number(failed),
        });
    }
    return known;
  }

  /** The rule's webhook, for sending. */
  async webhook(id: NotificationRuleId): Promise<Webhook> {
    const { secrets, db } = this.#store;
    const row = await db
      .selectFrom('notificationRules')
      .select(['webhookUrl', 'webhookSecret'])
      .where('id', '=', id)
      .executeTakeFirst();
    const { webhookUrl: url = null, webhookSecret: secret = null } = row ?? {};
    return {
      url: url && secrets.open(url, { table: 'webhook_urls', id }),
      secret: secret && secrets.open(secret, { table: 'notification_rules', id }),
    };
  }

  /** In the order of their ids, which is that of their creation. */
  async list(filter: NotificationRuleFilter, paging: Paging): Promise<Page<NotificationRule>> {
    let query = this.#store.db.selectFrom('notificationRules').selectAll();
    if (filter.ownerId !== undefined) query = query.where('ownerId', '=', filter.ownerId);
    return readPage(query, paging, (rows) => withReferences(this.#store.db, rows));
  }

  /**
   * A rule that was switched off because what it named was deleted stays off until it is switched on again.
   *
   * @param expectedVersion version that the caller last saw; null: any
   * @param patch with the whole URL of a webhook; or with the hidden one of the rule, then the URL stays
   * @param webhookSecret new secret; undefined: it stays
   * @returns the rule as it now is; a patch that changes nothing makes no new version
   * @throws {NotFoundError} {StaleError} {ConflictError} {UnknownReferenceError} {NamesNothingError}
   */
  update(
    id: NotificationRuleId,
    expectedVersion: number | null,
    patch: NotificationRulePatch,
    webhookSecret?: string | null,
  ): Promise<NotificationRule> {
    const { secrets } = this.#store;
    return this.#store.write(async (writer) => {
      const { webhookUrl: given } = patch;
      await writeWebhook(writer, id, {
        ...(given === undefined || (given !== null && isHiddenUrl(given))
          ? {}
          : { webhookUrl: sealedUrl(secrets, id, given) }),
        ...(webhookSecret === undefined ? {} : { webhookSecret: sealedSecret(secrets, id, webhookSecret) }),
      });
      return RULES.update(writer, id, expectedVersion, (current) => {
        const active = patch.active ?? current.active;
        return revised(current, {
          ...patch,
          ...sortedReferences(patch),
          ...(given && { webhookUrl: hiddenUrl(given) }),
          inactiveReason: active ? null : (current.inactiveReason ?? 'switched-off'),
        });
      });
    });
  }

  /** @throws {NotFoundError} {StaleError} */
  delete(id: NotificationRuleId, expectedVersion: number | null): Promise<void> {
    return this.#store.write(async (writer) => {
      await removeRule(writer, await RULES.expected(writer, id, expectedVersion));
    });
  }
}

export async function deleteRulesOf(writer: Writer, ownerId: UserId): Promise<void> {
  const rows = await writer.tx.selectFrom('notificationRules').selectAll().where('ownerId', '=', ownerId).execute();
  for (const rule of await withReferences(writer.tx, rows)) await removeRule(writer, rule);
}

/** Kinds of references by which rules name each kind of thing. */
const NAMED_AS = {
  vehicle: ['vehicle'],
  group: ['group', 'driver-group'],
  geofence: ['geofence', 'inside', 'outside'],
  driver: ['driver'],
} as const satisfies Record<string, readonly ReferenceKind[]>;

/**
 * Removes something that is being deleted from the rules that name it. A rule that then names nothing becomes inactive,
 * with a reason, rather than applying to everything.
 */
export async function dropFromRules(writer: Writer, kind: keyof typeof NAMED_AS, thingId: string): Promise<void> {
  const { tx } = writer;
  const kinds: readonly ReferenceKind[] = NAMED_AS[kind];
  const rows = await tx
    .selectFrom('notificationRuleReferences')
    .select('ruleId')
    .distinct()
    .where('thingId', '=', thingId)
    .where('kind', 'in', kinds)
    .execute();
  if (kind === 'vehicle') await tx.deleteFrom('ruleFirings').where('vehicleId', '=', thingId).execute();
  if (rows.length === 0) return;
  const before = await RULES.load(
    tx,
    rows.map((row) => row.ruleId),
  );
  for (const rule of before) {
    const left = { ...rule, version: rule.version + 1 };
    for (const [list, of] of LISTS)
      if (kinds.includes(of) && left[list] !== null)
        Object.assign(left, { [list]: left[list].filter((id) => id !== thingId) });
    const reason = namesNothing(left);
    if (reason !== null && left.active) Object.assign(left, { active: false, inactiveReason: reason });
    await RULES.replace(writer, left, rule);
  }
}

/** Replaces fields of the rule that are not references. */
export async function replaceRule(
  writer: Writer,
  rule: NotificationRule,
  fields: Pick<NotificationRule, 'channelIds'>,
): Promise<void> {
  await RULES.replace(writer, { ...rule, ...fields, version: rule.version + 1 }, rule);
}

async function removeRule(writer: Writer, rule: NotificationRule): Promise<void> {
  const { tx } = writer;
  await tx.deleteFrom('notificationRuleReferences').where('ruleId', '=', rule.id).execute();
  await tx.deleteFrom('ruleFirings').where('ruleId', '=', rule.id).execute();
  await tx.deleteFrom('licenceNotices').where('ruleId', '=', rule.id).execute();
  await tx.deleteFrom('waitingNotifications').where('ruleId', '=', rule.id).execute();
  await RULES.deleteRow(writer, rule.id);
  writer.deleted(rule);
}

export const RULES = new Resource<NotificationRule, NotificationRuleRow>({
  kind: 'notification-rule',
  table: 'notificationRules',
  read: withReferences,
  toRow: toRuleRow,
  async check({ tx }, rule) {
    await requireOwner(tx, rule.ownerId);
    const nothing = namesNothing(rule);
    if (rule.active && nothing !== null) throw new NamesNothingError(nothing);
    const other = await tx
      .selectFrom('notificationRules')
      .select('id')
      .where('ownerId', '=', rule.ownerId)
      .where('name', '=', rule.name)
      .where('id', '!=', rule.id)
      .executeTakeFirst();
    if (other) throw new ConflictError('notification-rule', 'name', rule.name);
  },
  writeDetails: setReferences,
});

async function writeWebhook({ tx }: Writer, id: NotificationRuleId, columns: Partial<WebhookColumns>): Promise<void> {
  if (Object.keys(columns).length > 0)
    await tx.updateTable('notificationRules').set(columns).where('id', '=', id).execute();
}

export async function setReferences({ tx }: Writer, rule: NotificationRule): Promise<void> {
  await tx.deleteFrom('notificationRuleReferences').where('ruleId', '=', rule.id).execute();
  for (const [list, kind, table] of LISTS)
    for (const some of inChunks<string>(rule[list] ?? [])) {
      const known = await tx.selectFrom(table).select('id').where('id', 'in', some).execute();
      const ids = new Set<string>(known.map((row) => row.id));
      const missing = some.find((id) => !ids.has(id));
      if (missing !== undefined) throw new UnknownReferenceError(list, missing);
      await tx
        .insertInto('notificationRuleReferences')
        .values(some.map((thingId) => ({ ruleId: rule.id, kind, thingId })))
        .execute();
    }
}

/** Without duplicates, in the order in which ids are stored. Lists that are not given stay so. */
function sortedReferences(lists: Partial<References>): Partial<References> {
  return Object.fromEntries(
    LISTS.filter(([list]) => lists[list] !== undefined).map(([list]) => {
      const ids: readonly string[] | null = lists[list] ?? null;
      return [list, ids && [...new Set(ids)].sort()];
    }),
  );
}

async function withReferences(db: Reader, rows: readonly NotificationRuleRow[]): Promise<NotificationRule[]> {
  const references: RuleReferenceRow[] = [];
  for (const some of inChunks(rows.map((row) => row.id)))
    references.push(
      ...(await db
        .selectFrom('notificationRuleReferences')
        .selectAll()
        .where('ruleId', 'in', some)
        .orderBy('thingId')
        .execute()),
    );
  const byRule = Map.groupBy(references, (row) => row.ruleId);
  return rows.map((row) => fromRow(row, byRule.get(row.id) ?? []));
}

/** Fields of a rule that no query uses, stored as JSON. */
type Terms = Pick<
  NotificationRule,
  | 'eventKinds'
  | 'phases'
  | 'minDurationMinutes'
  | 'alarms'
  | 'sensors'
  | 'driver'
  | 'licenceWarningDays'
  | 'days'
  | 'hours'
  | 'timeZone'
  | 'minIntervalMinutes'
  | 'maxDataAgeMinutes'
  | 'emails'
  | 'channelIds'
  | 'messageTemplate'
  | 'messageTemplates'
  | 'language'
  | 'push'
  | 'webhookUrl'
  | 'command'
  | 'severity'
  | 'shared'
  | 'escalateAfterMinutes'
  | 'escalateTo'
>;

function fromRow(row: NotificationRuleRow, references: readonly RuleReferenceRow[]): NotificationRule {
  const named = (kind: ReferenceKind) => references.filter((each) => each.kind === kind).map((each) => each.thingId);
  const terms = JSON.parse(row.terms) as Terms;
  return {
    kind: 'notification-rule',
    id: row.id as NotificationRuleId,
    version: row.version,
    ownerId: row.ownerId as UserId,
    name: row.name,
    active: row.inactiveReason === null,
    inactiveReason: row.inactiveReason as InactiveReason | null,
    eventKinds: terms.eventKinds,
    phases: terms.phases,
    // Missing in rules stored by earlier versions.
    minDurationMinutes: terms.minDurationMinutes ?? 0,
    alarms: terms.alarms ?? null,
    sensors: terms.sensors ?? null,
    vehicleIds: row.namesVehicles === 1 ? (named('vehicle') as VehicleId[]) : null,
    groupIds: row.namesGroups === 1 ? (named('group') as GroupId[]) : null,
    geofenceIds: row.namesGeofences === 1 ? (named('geofence') as GeofenceId[]) : null,
    insideGeofenceIds: row.namesInside === 1 ? (named('inside') as GeofenceId[]) : null,
    outsideGeofenceIds: row.namesOutside === 1 ? (named('outside') as GeofenceId[]) : null,
    driver: terms.driver ?? null,
    driverIds: row.namesDrivers === 1 ? (named('driver') as DriverId[]) : null,
    driverGroupIds: row.namesDriverGroups === 1 ? (named('driver-group') as GroupId[]) : null,
    licenceWarningDays: terms.licenceWarningDays ?? DEFAULT_LICENCE_WARNING_DAYS,
    days: terms.days,
    hours: terms.hours,
    timeZone: terms.timeZone,
    minIntervalMinutes: terms.minIntervalMinutes,
    maxDataAgeMinutes: terms.maxDataAgeMinutes,
    emails: terms.emails,
    channelIds: terms.channelIds ?? [],
    messageTemplate: terms.messageTemplate ?? null,
    messageTemplates: terms.messageTemplates ?? {},
    language: terms.language ?? null,
    push: terms.push ?? false,
    webhookUrl: terms.webhookUrl,
    command: terms.command ?? null,
    severity: terms.severity ?? 'info',
    shared: terms.shared ?? false,
    escalateAfterMinutes: terms.escalateAfterMinutes ?? null,
    escalateTo: terms.escalateTo ?? [],
  };
}

type WebhookColumns = Pick<NotificationRuleRow, 'webhookUrl' | 'webhookSecret'>;

export function sealedUrl(secrets: Secrets, id: NotificationRuleId, url: string | null): string | null {
  return url === null ? null : secrets.seal(url, { table: 'webhook_urls', id });
}

function sealedSecret(secrets: Secrets, id: NotificationRuleId, secret: string | null): string | null {
  return secret === null ? null : secrets.seal(secret, { table: 'notification_rules', id });
}

export function toRuleRow(rule: NotificationRule): Omit<NotificationRuleRow, keyof WebhookColumns> {
  const terms: Terms = {
    eventKinds: rule.eventKinds,
    phases: rule.phases,
    minDurationMinutes: rule.minDurationMinutes,
    alarms: rule.alarms,
    sensors: rule.sensors,
    driver: rule.driver,
    licenceWarningDays: rule.licenceWarningDays,
    days: rule.days,
    hours: rule.hours,
    timeZone: rule.timeZone,
    minIntervalMinutes: rule.minIntervalMinutes,
    maxDataAgeMinutes: rule.maxDataAgeMinutes,
    emails: rule.emails,
    channelIds: rule.channelIds,
    messageTemplate: rule.messageTemplate,
    messageTemplates: rule.messageTemplates,
    language: rule.language,
    push: rule.push,
    webhookUrl: rule.webhookUrl,
    command: rule.command,
    severity: rule.severity,
    shared: rule.shared,
    escalateAfterMinutes: rule.escalateAfterMinutes,
    escalateTo: rule.escalateTo,
  };
  return {
    id: rule.id,
    version: rule.version,
    ownerId: rule.ownerId,
    name: rule.name,
    inactiveReason: rule.inactiveReason,
    namesVehicles: rule.vehicleIds === null ? 0 : 1,
    namesGroups: rule.groupIds === null ? 0 : 1,
    namesGeofences: rule.geofenceIds === null ? 0 : 1,
    namesInside: rule.insideGeofenceIds === null ? 0 : 1,
    namesOutside: rule.outsideGeofenceIds === null ? 0 : 1,
    namesDrivers: rule.driverIds === null ? 0 : 1,
    namesDriverGroups: rule.driverGroupIds === null ? 0 : 1,
    terms: JSON.stringify(terms),
  };
}
