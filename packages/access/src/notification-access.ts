import { randomBytes } from 'node:crypto';
import { checkWebhookUrl, createWebhookSecret } from '@outrider/channels';
import {
  type Directory,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  geofenceOf,
  isTooSoon,
  type Mismatch,
  mayReceive,
  mismatchOf,
  NOTIFICATIONS_READ_CHANNEL,
  type Notification,
  type NotificationId,
  type NotificationRule,
  type NotificationRuleId,
  type NotificationsRead,
  subjectIn,
  type User,
  type VehicleId,
  visibleUnread,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import {
  type Delivery,
  type DeliveryFilter,
  NamesNothingError,
  type NotificationFilter,
  type NotificationRuleFields,
  type Page,
  type Paging,
  type Registry,
} from '@outrider/registry';
import { EmailStates, type ListedEmails } from './email-states.ts';
import { ownedArchive } from './owned-archive.ts';
import { badField, notFound, Problem } from './problem.ts';
import {
  type Right,
  rightToGeofence,
  rightToGroup,
  rightToNotificationRule,
  rightToVehicle,
  visibleNotificationRules,
} from './rights.ts';

/** The archive, as far as a rule is tried on it. */
export interface EventReport {
  /**
   * The newest events that began in a time range, the newest first, each in its latest phase.
   *
   * @param question `vehicleIds`: at most {@link MAX_ASKED_VEHICLES}; null: of all vehicles
   */
  recentEvents(question: {
    vehicleIds: readonly VehicleId[] | null;
    fromMs: number;
    toMs: number;
    limit: number;
  }): Promise<readonly FleetEvent[]>;
}

/** The data behind a caller's rules and inbox. */
export interface NotificationSources {
  registry: Registry;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
  eventReport: EventReport;
  config: {
    /** Whether webhooks may go to plain http and into the own network. */
    allowPrivateWebhooks: boolean;
    /** Whether the operator vouches for an e-mail address. Default: for none. */
    isTrustedAddress?: (address: string) => boolean;
  };
}

/** What of a rule its owner says; `webhookSecret`: undefined leaves it to the service. */
export type RuleWish = Omit<NotificationRuleFields, 'ownerId'> & { webhookSecret: string | undefined };

/** A rule with what became of the addresses that it names. */
export type ListedRule = NotificationRule & ListedEmails;

/** A rule as its owner may see it; the secret where this call gave it one. */
export interface RuleShown {
  rule: ListedRule;
  webhookSecret: string | null;
}

/** A rule held against what happened. */
export interface RuleTrial {
  fromMs: number;
  toMs: number;
  /** Phases of events that were looked at. */
  examined: number;
  /** False where there was more than could be looked at: the newest were. */
  complete: boolean;
  /** Events that it would have notified of, the newest first. */
  matched: FleetEvent[];
  /** Why it would not have notified of the others, with the newest few for each reason. */
  notMatched: { reason: Mismatch; count: number; examples: FleetEvent[] }[];
}

const WEEK_MS = 7 * 86_400_000;
const MAX_TRIED_EVENTS = 5000;
const MAX_MATCHED_SHOWN = 1000;
const EXAMPLES = 3;
/** With more vehicles than these, the events of all are asked for and those of others left out. */
export const MAX_ASKED_VEHICLES = 5000;

/** The lists of a rule, and how a caller's right to what they name is found. */
const LISTS = ['vehicleIds', 'groupIds', 'geofenceIds'] as const;
type ListName = (typeof LISTS)[number];
const NAMED: Record<ListName, string> = { vehicleIds: 'vehicle', groupIds: 'group', geofenceIds: 'geozone' };

/**
 * A caller's rules, inbox and deliveries: the part of `Access` for notifications. Every caller, operators included,
 * sees only their own inbox and deliveries, and only where the vehicle and the geofence are still visible to them.
 */
export class NotificationAccess {
  readonly #caller: User;
  readonly #sources: NotificationSources;
  readonly #emails: EmailStates;

  constructor(caller: User, sources: NotificationSources) {
    this.#caller = caller;
    this.#sources = sources;
    this.#emails = new EmailStates(sources);
  }

  // Rules

  async rule(id: NotificationRuleId): Promise<ListedRule> {
    return this.#emails.addTo(this.#shown(await this.#rule(id)));
  }

  async rules(paging: Paging): Promise<Page<ListedRule>> {
    const page = await this.#sources.registry.notificationRules.list(visibleNotificationRules(this.#caller), paging);
    const items = page.items.filter((rule) => rightToNotificationRule(this.#caller, rule) !== 'none');
    return {
      ...page,
      items: await this.#emails.addToAll(items.map((rule) => this.#shown(rule))),
    };
  }

  async addRule({ webhookSecret, ...fields }: RuleWish): Promise<RuleShown> {
    for (const list of LISTS) this.#requireVisible(list, fields[list]);
    this.#requireWebhook(fields.webhookUrl);
    await this.#emails.request(this.#caller.id, fields.emails);
    const secret = fields.webhookUrl === null ? null : (webhookSecret ?? createWebhookSecret(randomBytes));
    const rule = await namingSomething(
      this.#sources.registry.notificationRules.create({ ...fields, ownerId: this.#caller.id }, secret),
    );
    return { rule: await this.#emails.addTo(this.#shown(rule)), webhookSecret: secret };
  }

  /** @param change gives the new fields from the present ones */
  async changeRule(
    id: NotificationRuleId,
    ifMatch: number | null,
    change: (current: NotificationRule) => RuleWish,
  ): Promise<RuleShown> {
    const { notificationRules } = this.#sources.registry;
    const current = await this.#rule(id);
    const shown = this.#shown(current);
    const { webhookSecret, ...fields } = change(shown);
    for (const list of LISTS) {
      if (fields[list] === shown[list]) Object.assign(fields, { [list]: current[list] });
      else {
        this.#requireVisible(list, fields[list]);
        if (fields[list] !== null) Object.assign(fields, { [list]: [...fields[list], ...this.#unseen(list, current)] });
      }
    }
    if (fields.webhookUrl !== current.webhookUrl) this.#requireWebhook(fields.webhookUrl);
    if (fields.emails !== current.emails) await this.#emails.request(current.ownerId, fields.emails);
    let secret: string | null | undefined = webhookSecret;
    if (fields.webhookUrl === null) secret = null;
    else if (secret === undefined && (await notificationRules.webhookSecret(id)) === null)
      secret = createWebhookSecret(randomBytes);
    // What was merged came from this version: another one in between must not be lost.
    const version = ifMatch ?? current.version;
    const rule = await namingSomething(notificationRules.update(id, version, fields, secret));
    return { rule: await this.#emails.addTo(this.#shown(rule)), webhookSecret: secret ?? null };
  }

  async removeRule(id: NotificationRuleId, ifMatch: number | null): Promise<void> {
    await this.#rule(id);
    await this.#sources.registry.notificationRules.delete(id, ifMatch);
  }

  /**
   * Holds the rule, as if it were active, against the last week of what its owner may see. When data arrived is not in
   * the archive, so its age is not judged.
   */
  async tryRule(id: NotificationRuleId, nowMs: number): Promise<RuleTrial> {
    const { directory } = this.#sources;
    const eventReport = ownedArchive(this.#sources.eventReport, this.#caller);
    const rule = { ...(await this.#rule(id)), active: true };
    const owner = directory.ownerOf(rule);
    const question = { fromMs: nowMs - WEEK_MS, toMs: nowMs };
    const none = { ...question, examined: 0, complete: true, matched: [], notMatched: [] };
    if (owner === undefined) return none;
    const visible = [...directory.vehicles.values()].filter((vehicle) => rightToVehicle(owner, vehicle) !== 'none');
    if (visible.length === 0) return none;
    const all = visible.length > MAX_ASKED_VEHICLES || visible.length === directory.vehicles.size;
    const events = await eventReport.recentEvents({
      ...question,
      vehicleIds: all ? null : visible.map(({ id: vehicleId }) => vehicleId),
      limit: MAX_TRIED_EVENTS,
    });

    const examined = events
      .filter((event) => this.#mayJudge(owner, event))
      .flatMap((event) => requestedPhases(event, rule))
      .sort((a, b) => a.fixTimeMs - b.fixTimeMs);
    const matched: FleetEvent[] = [];
    const others = new Map<Mismatch, FleetEvent[]>();
    const last = new Map<VehicleId, number>();
    for (const event of examined) {
      const reason = this.#mismatch(rule, owner, event, last.get(event.vehicleId) ?? null);
      if (reason === null) {
        last.set(event.vehicleId, event.fixTimeMs);
        matched.push(event);
      } else others.set(reason, [...(others.get(reason) ?? []), event]);
    }
    return {
      ...question,
      examined: examined.length,
      complete: events.length < MAX_TRIED_EVENTS && matched.length <= MAX_MATCHED_SHOWN,
      matched: matched.toReversed().slice(0, MAX_MATCHED_SHOWN),
      notMatched: [...others].map(([reason, list]) => ({
        reason,
        count: list.length,
        examples: list.toReversed().slice(0, EXAMPLES),
      })),
    };
  }

  // Inbox

  async inbox(filter: NotificationFilter, paging: { limit: number; after: number | null }) {
    const { notifications } = this.#sources.registry;
    const page = await notifications.list(this.#caller.id, filter, paging);
    const unread = await notifications.unread(this.#caller.id);
    const unreadCount = visibleUnread(this.#caller, unread, this.#sources.directory);
    return { items: page.items.filter((each) => this.#mayReceive(each)), next: page.next, unreadCount };
  }

  async markRead(id: NotificationId): Promise<Notification> {
    const { notifications } = this.#sources.registry;
    const notification = await notifications.get(this.#caller.id, id);
    if (notification === null || !this.#mayReceive(notification)) throw notFound();
    const read = await notifications.markRead(this.#caller.id, id);
    await this.#announceRead();
    return read;
  }

  /** @param upTo number of the last that the caller has seen; null: all there are */
  async markAllRead(upTo: number | null): Promise<number> {
    const { notifications } = this.#sources.registry;
    const count = await notifications.markAllRead(this.#caller.id, upTo ?? Number.MAX_SAFE_INTEGER);
    await this.#announceRead();
    return count;
  }

  /** A hint to the live API; a client that misses it learns the number with the next change. */
  async #announceRead(): Promise<void> {
    const message: NotificationsRead = { userId: this.#caller.id };
    await this.#sources.hub.publish(NOTIFICATIONS_READ_CHANNEL, JSON.stringify(message)).catch(() => {});
  }

  // Deliveries

  async deliveries(filter: DeliveryFilter, paging: Paging): Promise<Page<Delivery>> {
    return this.#sources.registry.deliveries.list(this.#caller.id, filter, paging);
  }

  async resend(id: Delivery['id']): Promise<Delivery> {
    const { deliveries, notifications } = this.#sources.registry;
    const delivery = await deliveries.get(this.#caller.id, id);
    const notification = delivery && (await notifications.get(this.#caller.id, delivery.notificationId));
    if (!delivery || !notification || !this.#mayReceive(notification)) throw notFound();
    return deliveries.resend(this.#caller.id, id);
  }

  // The checks

  async #rule(id: NotificationRuleId): Promise<NotificationRule> {
    const rule = await this.#sources.registry.notificationRules.get(id);
    if (rule === null || rightToNotificationRule(this.#caller, rule) === 'none') throw notFound();
    return rule;
  }

  #right(list: ListName, id: string): Right {
    const { directory } = this.#sources;
    switch (list) {
      case 'vehicleIds': {
        const vehicle = directory.vehicles.get(id as VehicleId);
        return vehicle ? rightToVehicle(this.#caller, vehicle) : 'none';
      }
      case 'groupIds': {
        const group = directory.groups.get(id as GroupId);
        return group ? rightToGroup(this.#caller, group) : 'none';
      }
      case 'geofenceIds': {
        const geofence = directory.geofences.get(id as GeofenceId);
        return geofence ? rightToGeofence(this.#caller, geofence, directory.ownerOf(geofence)) : 'none';
      }
    }
  }

  #requireVisible(list: ListName, ids: readonly string[] | null): void {
    for (const [nth, id] of (ids ?? []).entries())
      if (this.#right(list, id) === 'none') throw badField(`/${list}/${nth}`, `There is no such ${NAMED[list]}.`);
  }

  /** What the rule names that the caller does not see, and so can't mean to take away. */
  #unseen(list: ListName, rule: NotificationRule): readonly string[] {
    return (rule[list] ?? []).filter((id) => this.#right(list, id) === 'none');
  }

  #shown(rule: NotificationRule): NotificationRule {
    const shown = { ...rule };
    for (const list of LISTS)
      if (rule[list]?.some((id) => this.#right(list, id) === 'none'))
        Object.assign(shown, { [list]: rule[list].filter((id) => this.#right(list, id) !== 'none') });
    return shown;
  }

  #requireWebhook(url: string | null): void {
    if (url === null) return;
    const { allowPrivateWebhooks } = this.#sources.config;
    const wrong = checkWebhookUrl(url, { allowPrivateAddresses: allowPrivateWebhooks });
    if (wrong !== null) throw badField('/webhook/url', wrong);
  }

  #mayReceive({ event }: Notification): boolean {
    return mayReceive(this.#caller, this.#subjectOf(event));
  }

  #subjectOf(event: FleetEvent) {
    return subjectIn(this.#sources.directory, { vehicleId: event.vehicleId, geofenceId: geofenceOf(event) });
  }

  /** Events that the owner may not see give no reason either; nor do those whose vehicle or geofence was deleted. */
  #mayJudge(owner: User, event: FleetEvent): boolean {
    const subject = this.#subjectOf(event);
    if (subject.vehicle === undefined) return false;
    if (geofenceOf(event) !== null && subject.geofence === undefined) return false;
    return mayReceive(owner, subject) && mayReceive(this.#caller, subject);
  }

  #mismatch(rule: NotificationRule, owner: User, event: FleetEvent, lastMs: number | null): Mismatch | null {
    const { vehicle, geofence, geofenceOwner } = this.#subjectOf(event);
    const context = {
      owner,
      vehicle: vehicle ?? null,
      geofence: geofence ?? null,
      geofenceOwner: geofenceOwner ?? null,
    };
    const reason = mismatchOf(rule, { event, arrivedAtMs: null }, context);
    return reason === null && isTooSoon(rule, lastMs, event) ? 'too-soon' : reason;
  }
}

/** The event as it was published in each phase that the rule asks for. */
function requestedPhases(event: FleetEvent, { phases }: NotificationRule): FleetEvent[] {
  const occurrences: FleetEvent[] = [];
  if (phases.includes('begin')) occurrences.push(event.phase === 'begin' ? event : asBegun(event));
  if (phases.includes('end') && event.phase === 'end') occurrences.push(event);
  return occurrences;
}

/** An event that has ended as it began: the archive keeps when and where that was, and nothing else of it. */
function asBegun(event: FleetEvent): FleetEvent {
  const { startLatitude: latitude, startLongitude: longitude } = event;
  const place = latitude === undefined || longitude === undefined ? {} : { latitude, longitude, speedKmh: null };
  return { ...event, ...place, phase: 'begin', endedAtMs: null, endReason: null, fixTimeMs: event.startedAtMs };
}

async function namingSomething<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NamesNothingError)
      throw new Problem('conflict', 'All that the rule named was deleted: name something, or all, first.', {
        errors: [{ pointer: '/active', detail: `It names nothing any more: ${error.reason}.` }],
      });
    throw error;
  }
}
