import { randomBytes } from 'node:crypto';
import { checkWebhookUrl, createWebhookSecret, type MessageReader } from '@outrider/channels';
import {
  alsoHarsh,
  asksForDriver,
  type Directory,
  type Driver,
  type DriverId,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  geofenceOf,
  type Happening,
  HIDDEN_URL_MARK,
  happenedAtMs,
  hasScope,
  isLicenceRule,
  isTooSoon,
  licenceRuleFault,
  type Mismatch,
  mayCommand,
  mayReceive,
  maySeeVehicle,
  mismatchOf,
  NOTIFICATIONS_READ_CHANNEL,
  type Notification,
  type NotificationId,
  type NotificationRule,
  type NotificationRuleId,
  type NotificationsRead,
  type NotifiedEvent,
  namesVehicle,
  RULE_LISTS,
  type RuleCommand,
  type RuleList,
  type RuleTerms,
  sensorNameKey,
  subjectIdsOf,
  subjectIn,
  type User,
  type UserId,
  type VehicleId,
  visibleUnread,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import {
  type ChannelTest,
  type Delivery,
  type DeliveryFilter,
  NamesNothingError,
  type NotificationFilter,
  type NotificationRuleFields,
  type Page,
  type Paging,
  type Registry,
  type RuleActivity,
} from '@outrider/registry';
import { EmailStates, type ListedEmails } from './email-states.ts';
import { type Owned, ownedArchive } from './owned-archive.ts';
import { badField, notFound, Problem, scopeNeeded } from './problem.ts';
import { ruleReaderOf } from './reader.ts';
import {
  type Right,
  requireRight,
  requireUnlimited,
  rightToDriver,
  rightToGeofence,
  rightToGroup,
  rightToNotificationRule,
  rightToVehicle,
  visibleNotificationRules,
} from './rights.ts';
import { rulePlaces } from './rule-places.ts';
import { momentOf, whoDrove } from './who-drove.ts';

/** The archive, as far as a rule is tried on it. */
export interface EventReport {
  /**
   * The newest events that began in a time range, the newest first, each in its latest phase.
   *
   * @param question `vehicleIds`: at most {@link MAX_ASKED_VEHICLES}; null: of all vehicles
   */
  recentEvents(question: {
    vehicleIds: readonly VehicleId[] | null;
    kinds?: readonly string[];
    geofenceIds?: readonly GeofenceId[] | null;
    fromMs: number;
    toMs: number;
    limit: number;
  }): Promise<readonly FleetEvent[]>;
  /** When the first event of vehicles in a time range began; null without any. */
  firstEventMs(question: {
    vehicleIds: readonly VehicleId[] | null;
    fromMs: number;
    toMs: number;
  }): Promise<number | null>;
}

/** The data behind a caller's rules and inbox. */
export interface NotificationSources {
  registry: Registry;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
  eventReport: Owned<EventReport>;
  config: {
    /** Whether webhooks may go to plain http and into the own network. */
    allowPrivateWebhooks: boolean;
    /** Whether the operator vouches for an e-mail address. Default: for none. */
    isTrustedAddress?: (address: string) => boolean;
  };
}

/** What of a rule its owner says; `webhookSecret`: undefined leaves it to the service. */
export type RuleWish = Omit<NotificationRuleFields, 'ownerId'> & { webhookSecret: string | undefined };

/** A rule with what became of it, and of the addresses that it names. */
export type ListedRule = NotificationRule & ListedEmails & RuleActivity;

/** What of a rule a trial depends on. */
export type TriedRule = Omit<RuleTerms, 'active'>;

/** A delivery with what it delivers; null where that is not visible to its user any more. */
export type ListedDelivery = Delivery & { notification: Notification | null };

/** A rule as its owner may see it; the secret where this call gave it one. */
export interface RuleShown {
  rule: ListedRule;
  webhookSecret: string | null;
}

/** A rule held against what happened. */
export interface RuleTrial {
  fromMs: number;
  toMs: number;
  /** When the first event that could be looked at began; null without any. */
  firstEventAtMs: number | null;
  /** Phases of events that were looked at. */
  examined: number;
  /** False where there was more than could be looked at: the newest were. */
  complete: boolean;
  /** Events that it would have notified of, the newest first. */
  matched: FleetEvent[];
  /** How many it would have notified of, by the days of its time zone; days without any are missing. */
  days: { date: string; count: number }[];
  /** Why it would not have notified of the others, with the newest few for each reason. */
  notMatched: { reason: Mismatch; count: number; examples: FleetEvent[] }[];
}

const WEEK_MS = 7 * 86_400_000;
const MAX_TRIED_EVENTS = 10_000;
const MAX_MATCHED_SHOWN = 1000;
const EXAMPLES = 3;
const NO_ACTIVITY: RuleActivity = { lastNotifiedAtMs: null, failedDeliveries: 0 };
/** With more vehicles than these, the events of all are asked for and those of others left out. */
export const MAX_ASKED_VEHICLES = 5000;

/** What the lists of a rule name. */
const NAMED: Record<RuleList, string> = {
  vehicleIds: 'vehicle',
  groupIds: 'group',
  geofenceIds: 'geozone',
  insideGeofenceIds: 'geozone',
  outsideGeofenceIds: 'geozone',
  driverIds: 'driver',
  driverGroupIds: 'group',
};

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
    return this.#listed(await this.#rule(id));
  }

  /** @param ownerId only those of this account; null: all that the caller may see */
  async rules(ownerId: UserId | null, paging: Paging): Promise<Page<ListedRule>> {
    const visible = visibleNotificationRules(this.#caller);
    if (ownerId !== null && (visible.ownerId ?? ownerId) !== ownerId) return { items: [], next: null };
    const filter = ownerId === null ? visible : { ownerId };
    const page = await this.#sources.registry.notificationRules.list(filter, paging);
    const items = page.items.filter((rule) => rightToNotificationRule(this.#caller, rule) !== 'none');
    return {
      ...page,
      items: await this.#allListed(items),
    };
  }

  async addRule({ webhookSecret, ...fields }: RuleWish): Promise<RuleShown> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    for (const list of RULE_LISTS) this.#requireVisible(list, fields[list]);
    this.#requireSensors(fields.sensors, null);
    requireSense(fields);
    this.#requireWebhook(fields.webhookUrl);
    await this.#requireChannels(this.#caller.id, fields.channelIds);
    requireCommandScope(this.#caller, fields.command);
    requireCommand(this.#caller, fields.command);
    await this.#emails.request(this.#caller.id, addressesOf(fields), fields.language);
    const secret = fields.webhookUrl === null ? null : (webhookSecret ?? createWebhookSecret(randomBytes));
    const rule = await namingSomething(
      this.#sources.registry.notificationRules.create({ ...fields, ownerId: this.#caller.id }, secret),
    );
    return { rule: await this.#listed(rule), webhookSecret: secret };
  }

  /** @param change gives the new fields from the present ones */
  async changeRule(
    id: NotificationRuleId,
    ifMatch: number | null,
    change: (current: NotificationRule) => RuleWish,
  ): Promise<RuleShown> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const { notificationRules } = this.#sources.registry;
    const current = await this.#rule(id);
    const shown = this.#shown(current);
    const { webhookSecret, ...fields } = change(shown);
    for (const list of RULE_LISTS) {
      if (fields[list] === shown[list]) Object.assign(fields, { [list]: current[list] });
      else {
        this.#requireVisible(list, fields[list]);
        if (fields[list] !== null) Object.assign(fields, { [list]: [...fields[list], ...this.#unseen(list, current)] });
      }
    }
    this.#requireSensors(fields.sensors, current.sensors);
    requireSense(fields);
    if (fields.webhookUrl !== current.webhookUrl) this.#requireWebhook(fields.webhookUrl);
    // Whatever of it changes, it is what the rule sends its command by.
    requireCommandScope(this.#caller, fields.command);
    if (fields.command !== current.command) requireCommand(this.#sources.directory.ownerOf(current), fields.command);
    if (fields.channelIds !== current.channelIds) await this.#requireChannels(current.ownerId, fields.channelIds);
    if (fields.emails !== current.emails || fields.escalateTo !== current.escalateTo)
      await this.#emails.request(current.ownerId, addressesOf(fields), fields.language);
    let secret: string | null | undefined = webhookSecret;
    if (fields.webhookUrl === null) secret = null;
    else if (secret === undefined && (await notificationRules.webhook(id)).secret === null)
      secret = createWebhookSecret(randomBytes);
    // What was merged came from this version: another one in between must not be lost.
    const version = ifMatch ?? current.version;
    const rule = await namingSomething(notificationRules.update(id, version, fields, secret));
    return { rule: await this.#listed(rule), webhookSecret: secret ?? null };
  }

  async removeRule(id: NotificationRuleId, ifMatch: number | null): Promise<void> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    await this.#rule(id);
    await this.#sources.registry.notificationRules.delete(id, ifMatch);
  }

  /** As {@link tryDraft}, of a rule as it is stored. */
  async tryRule(id: NotificationRuleId, nowMs: number): Promise<RuleTrial> {
    const rule = await this.#rule(id);
    return this.#try(rule, this.#sources.directory.ownerOf(rule), nowMs);
  }

  /**
   * Holds a rule that is not stored, as if it were active, against the last week of what its owner may see. When data
   * arrived is not in the archive, so its age is not judged.
   *
   * @param ruleId the stored rule that it would replace, whose owner stays; null: it would be the caller's
   */
  async tryDraft(draft: TriedRule, ruleId: NotificationRuleId | null, nowMs: number): Promise<RuleTrial> {
    const current = ruleId === null ? null : await this.#rule(ruleId);
    for (const list of RULE_LISTS) this.#requireVisible(list, draft[list]);
    this.#requireSensors(draft.sensors, current?.sensors ?? null);
    requireSense(draft);
    return this.#try(draft, current === null ? this.#caller : this.#sources.directory.ownerOf(current), nowMs);
  }

  async #try(tried: TriedRule, owner: User | undefined, nowMs: number): Promise<RuleTrial> {
    const interval = { fromMs: nowMs - WEEK_MS, toMs: nowMs };
    const vehicleIds = owner === undefined ? [] : this.#triedVehicles(tried, owner);
    const empty = { ...interval, firstEventAtMs: null, examined: 0, complete: true, matched: [], days: [] };
    // Licences are no events of last week.
    if (owner === undefined || vehicleIds?.length === 0 || isLicenceRule(tried)) return { ...empty, notMatched: [] };
    const eventReport = ownedArchive(this.#sources.eventReport, this.#caller);
    const { eventKinds, geofenceIds } = tried;
    const question = { ...interval, vehicleIds };
    const [events, firstEventAtMs] = await Promise.all([
      eventReport.recentEvents({ ...question, kinds: alsoHarsh(eventKinds), geofenceIds, limit: MAX_TRIED_EVENTS }),
      eventReport.firstEventMs(question),
    ]);
    const examined = events
      .filter((event) => this.#mayJudge(owner, event))
      .flatMap((event) => requestedPhases(event, tried, nowMs))
      .sort((a, b) => a.event.fixTimeMs - b.event.fixTimeMs);
    const matched: FleetEvent[] = [];
    const others = new Map<Mismatch, FleetEvent[]>();
    const last = new Map<VehicleId, number>();
    const drivers = asksForDriver(tried)
      ? await whoDrove(
          this.#sources,
          examined.map(({ event }) => momentOf(event)),
        )
      : [];
    for (const [nth, { event, lastedMs }] of examined.entries()) {
      const lastMs = last.get(event.vehicleId) ?? null;
      const happening = { event, lastedMs, arrivedAtMs: null };
      const reason = this.#mismatch(tried, owner, happening, drivers[nth] ?? null, lastMs);
      if (reason === null) {
        last.set(event.vehicleId, event.fixTimeMs);
        matched.push(event);
      } else others.set(reason, [...(others.get(reason) ?? []), event]);
    }
    const isCut = events.length >= MAX_TRIED_EVENTS;
    return {
      ...interval,
      firstEventAtMs: isCut ? (events.at(-1)?.startedAtMs ?? null) : firstEventAtMs,
      examined: examined.length,
      complete: !isCut && matched.length <= MAX_MATCHED_SHOWN,
      matched: matched.toReversed().slice(0, MAX_MATCHED_SHOWN),
      days: countedByDay(matched, tried.timeZone),
      notMatched: [...others].map(([reason, list]) => ({
        reason,
        count: list.length,
        examples: list.toReversed().slice(0, EXAMPLES),
      })),
    };
  }

  /** Vehicles whose events can matter to the rule; null: all there are, from which the others are left out. */
  #triedVehicles(tried: TriedRule, owner: User): VehicleId[] | null {
    const { vehicles } = this.#sources.directory;
    const named = [...vehicles.values()].filter(
      (vehicle) =>
        maySeeVehicle(owner, vehicle) &&
        maySeeVehicle(this.#caller, vehicle) &&
        namesVehicle(tried, vehicle.id, vehicle),
    );
    const isAll = named.length > MAX_ASKED_VEHICLES || (named.length > 0 && named.length === vehicles.size);
    return isAll ? null : named.map(({ id }) => id);
  }

  /** How the caller reads messages, in their language or another one. */
  reader(timeZone: string, language: string | null): Promise<MessageReader> {
    return ruleReaderOf(this.#sources.registry, { ownerId: this.#caller.id, timeZone, language });
  }

  // Tests of channels

  /**
   * Sends a message over a channel that the rule names, once.
   *
   * @param target of the rule's e-mail addresses the one; null for its webhook
   * @throws {TooManyTestsError} when the caller sent too many
   */
  async testChannel(id: NotificationRuleId, target: string | null): Promise<ChannelTest> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const rule = await this.#rule(id);
    const { webhookUrl } = rule;
    if (target === null && webhookUrl === null) throw badField('/channel', 'The rule has no webhook.');
    if (target !== null && !addressesOf(rule).includes(target))
      throw badField('/address', 'The rule does not name this address.');
    return this.#sources.registry.channelTests.request({
      userId: this.#caller.id,
      ruleId: id,
      channel: target === null ? 'webhook' : 'email',
      target: target ?? webhookUrl ?? '',
    });
  }

  /** The caller's, the newest first. */
  async channelTests(id: NotificationRuleId): Promise<ChannelTest[]> {
    await this.#rule(id);
    return this.#sources.registry.channelTests.list(this.#caller.id, id);
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

  async deliveries(filter: DeliveryFilter, paging: Paging): Promise<Page<ListedDelivery>> {
    const { deliveries, notifications } = this.#sources.registry;
    const page = await deliveries.list(this.#caller.id, filter, paging);
    const ids = page.items.map(({ notificationId }) => notificationId);
    const known = await notifications.byIds(this.#caller.id, ids);
    const visible = (id: NotificationId) => {
      const notification = known.get(id);
      return notification !== undefined && this.#mayReceive(notification) ? notification : null;
    };
    return { ...page, items: page.items.map((each) => ({ ...each, notification: visible(each.notificationId) })) };
  }

  async resend(id: Delivery['id']): Promise<ListedDelivery> {
    requireRight(this.#caller, 'edit-notifications');
    const { deliveries, notifications } = this.#sources.registry;
    const delivery = await deliveries.get(this.#caller.id, id);
    const notification = delivery && (await notifications.get(this.#caller.id, delivery.notificationId));
    if (!delivery || !notification || !this.#mayReceive(notification)) throw notFound();
    return { ...(await deliveries.resend(this.#caller.id, id)), notification };
  }

  // The checks

  async #listed(rule: NotificationRule): Promise<ListedRule> {
    const [listed] = await this.#allListed([rule]);
    if (listed === undefined) throw notFound();
    return listed;
  }

  async #allListed(rules: readonly NotificationRule[]): Promise<ListedRule[]> {
    const activity = await this.#sources.registry.notificationRules.activity(rules.map(({ id }) => id));
    const shown = rules.map((rule) => this.#shown(rule));
    const states = await this.#emails.addToAll(
      shown.map((rule) => ({ ownerId: rule.ownerId, emails: addressesOf(rule) })),
    );
    return shown.map((rule, nth) => ({
      ...rule,
      emailStates: states[nth]?.emailStates ?? [],
      ...(activity.get(rule.id) ?? NO_ACTIVITY),
    }));
  }

  async #rule(id: NotificationRuleId): Promise<NotificationRule> {
    const rule = await this.#sources.registry.notificationRules.get(id);
    if (rule === null || rightToNotificationRule(this.#caller, rule) === 'none') throw notFound();
    return rule;
  }

  #right(list: RuleList, id: string): Right {
    const { directory } = this.#sources;
    switch (list) {
      case 'vehicleIds': {
        const vehicle = directory.vehicles.get(id as VehicleId);
        return vehicle ? rightToVehicle(this.#caller, vehicle) : 'none';
      }
      case 'groupIds':
      case 'driverGroupIds': {
        const group = directory.groups.get(id as GroupId);
        return group ? rightToGroup(this.#caller, group) : 'none';
      }
      case 'geofenceIds':
      case 'insideGeofenceIds':
      case 'outsideGeofenceIds': {
        const geofence = directory.geofences.get(id as GeofenceId);
        return geofence ? rightToGeofence(this.#caller, geofence, directory.ownerOf(geofence)) : 'none';
      }
      case 'driverIds': {
        const driver = directory.drivers.get(id as DriverId);
        return driver ? rightToDriver(this.#caller, driver) : 'none';
      }
    }
  }

  #requireVisible(list: RuleList, ids: readonly string[] | null): void {
    for (const [nth, id] of (ids ?? []).entries())
      if (this.#right(list, id) === 'none') throw badField(`/${list}/${nth}`, `There is no such ${NAMED[list]}.`);
  }

  /** What the rule names that the caller does not see, and so can't mean to take away. */
  #unseen(list: RuleList, rule: NotificationRule): readonly string[] {
    return (rule[list] ?? []).filter((id) => this.#right(list, id) === 'none');
  }

  #shown(rule: NotificationRule): NotificationRule {
    const shown = { ...rule };
    for (const list of RULE_LISTS)
      if (rule[list]?.some((id) => this.#right(list, id) === 'none'))
        Object.assign(shown, { [list]: rule[list].filter((id) => this.#right(list, id) !== 'none') });
    return shown;
  }

  /** @param known what the rule named before: a sensor that was removed or renamed since stays named */
  #requireSensors(sensors: readonly string[] | null, known: readonly string[] | null): void {
    const unknown = (sensors ?? []).filter((each) => !known?.includes(each));
    if (unknown.length === 0) return;
    const keys = new Set<string>();
    for (const vehicle of this.#sources.directory.vehicles.values())
      if (vehicle.sensors.length > 0 && rightToVehicle(this.#caller, vehicle) !== 'none')
        for (const { id, name } of vehicle.sensors) keys.add(id).add(sensorNameKey(name));
    const nth = sensors?.findIndex((each) => unknown.includes(each) && !keys.has(sensorNameKey(each))) ?? -1;
    if (nth >= 0) throw badField(`/sensors/${nth}`, 'No vehicle that you may see has a sensor of this name or id.');
  }

  /** A rule names channels of its owner alone. */
  async #requireChannels(ownerId: UserId, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const channels = await this.#sources.registry.messageChannels.list(ownerId);
    // Browsers are not named: `push` stands for all of them.
    const own = new Set(channels.filter(({ kind }) => kind !== 'web-push').map(({ id }) => id));
    for (const [nth, id] of ids.entries())
      if (!own.has(id)) throw badField(`/channelIds/${nth}`, 'The owner of the rule has no such channel.');
  }

  #requireWebhook(url: string | null): void {
    if (url === null) return;
    const { allowPrivateWebhooks } = this.#sources.config;
    const wrong = url.includes(HIDDEN_URL_MARK)
      ? 'This is a URL as it is shown, with most of it hidden: give the whole one.'
      : checkWebhookUrl(url, { allowPrivateAddresses: allowPrivateWebhooks });
    if (wrong !== null) throw badField('/webhook/url', wrong);
  }

  #mayReceive({ event }: Notification): boolean {
    return mayReceive(this.#caller, this.#subjectOf(event));
  }

  #subjectOf(event: NotifiedEvent) {
    return subjectIn(this.#sources.directory, subjectIdsOf(event));
  }

  /** Events that the owner may not see give no reason either; nor do those whose vehicle or geofence was deleted. */
  #mayJudge(owner: User, event: FleetEvent): boolean {
    const subject = this.#subjectOf(event);
    if (subject.vehicle === undefined) return false;
    if (geofenceOf(event) !== null && subject.geofence === undefined) return false;
    return mayReceive(owner, subject) && mayReceive(this.#caller, subject);
  }

  #mismatch(
    tried: TriedRule,
    owner: User,
    happening: Happening,
    driver: Driver | null,
    lastMs: number | null,
  ): Mismatch | null {
    const { event } = happening;
    const { vehicle, geofence, geofenceOwner } = this.#subjectOf(event);
    const context = {
      owner,
      vehicle: vehicle ?? null,
      geofence: geofence ?? null,
      geofenceOwner: geofenceOwner ?? null,
      placeOf: rulePlaces(this.#sources.directory, event),
      driver,
    };
    const reason = mismatchOf({ ...tried, active: true }, happening, context);
    return reason === null && isTooSoon(tried, lastMs, event) ? 'too-soon' : reason;
  }
}

/** The event as it was published in each phase that the rule asks for. */
function requestedPhases(
  event: FleetEvent,
  { phases }: Pick<NotificationRule, 'phases'>,
  nowMs: number,
): (Pick<Happening, 'event'> & { lastedMs: number })[] {
  const lastedMs = Math.max(0, (event.endedAtMs ?? nowMs) - event.startedAtMs);
  const occurrences: FleetEvent[] = [];
  if (phases.includes('begin')) occurrences.push(event.phase === 'begin' ? event : asBegun(event));
  if (phases.includes('end') && event.phase === 'end') occurrences.push(event);
  return occurrences.map((each) => ({ event: each, lastedMs }));
}

/** An event that has ended as it began: the archive keeps when and where that was, and nothing else of it. */
function asBegun(event: FleetEvent): FleetEvent {
  const { startLatitude: latitude, startLongitude: longitude } = event;
  const place = latitude === undefined || longitude === undefined ? {} : { latitude, longitude, speedKmh: null };
  return { ...event, ...place, phase: 'begin', endedAtMs: null, endReason: null, fixTimeMs: event.startedAtMs };
}

function countedByDay(events: readonly FleetEvent[], timeZone: string): RuleTrial['days'] {
  const dateOf = (event: FleetEvent) =>
    Temporal.Instant.fromEpochMilliseconds(Math.floor(happenedAtMs(event)))
      .toZonedDateTimeISO(timeZone)
      .toPlainDate()
      .toString();
  return [...Map.groupBy(events, dateOf)]
    .map(([date, { length }]) => ({ date, count: length }))
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** Every address that the rule names, each once. */
function addressesOf({ emails, escalateTo }: Pick<NotificationRule, 'emails' | 'escalateTo'>): string[] {
  return [...new Set([...emails, ...escalateTo])];
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

/** @throws {Problem} where conditions of the rule exclude each other */
function requireSense(rule: TriedRule & Partial<Pick<NotificationRule, 'command'>>): void {
  const { driver, driverIds, driverGroupIds } = rule;
  const fault = licenceRuleFault(rule);
  if (fault !== null) throw badField(`/${fault.field}`, fault.reason);
  if (driver === 'unknown' && (driverIds !== null || driverGroupIds !== null))
    throw badField('/driver', 'A rule that names drivers is not of unknown ones.');
}

/** What a key may not send itself, no rule sends for it. */
function requireCommandScope(caller: User, command: RuleCommand | null): void {
  if (command !== null && !hasScope(caller, 'commands')) throw scopeNeeded('commands');
}

/** A rule sends what its owner may send. */
function requireCommand(owner: User | undefined, command: RuleCommand | null): void {
  if (command !== null && (owner === undefined || !mayCommand(owner, command.type)))
    throw new Problem('forbidden', `The owner of the rule was not granted commands of type ${command.type}.`);
}
