import { randomBytes } from 'node:crypto';
import { checkWebhookUrl, createWebhookSecret, type MessageReader } from '@outrider/channels';
import {
  type Directory,
  HIDDEN_URL_MARK,
  hasScope,
  mayCommand,
  type NotificationRule,
  type NotificationRuleId,
  RULE_LISTS,
  type RuleCommand,
  type User,
  type UserId,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import {
  type ChannelTest,
  NamesNothingError,
  type NotificationRuleFields,
  type Page,
  type Paging,
  type Registry,
  type RuleActivity,
} from '@outrider/registry';
import { EmailStates, type ListedEmails } from '../accounts/email-states.ts';
import type { Owned } from '../owned-archive.ts';
import { badField, notFound, Problem, scopeNeeded } from '../problem.ts';
import { requireRight, requireUnlimited, rightToNotificationRule, visibleNotificationRules } from '../rights.ts';
import { ruleReaderOf } from './reader.ts';
import { RuleNames } from './rule-names.ts';
import { type EventReport, requireSense } from './rule-trials.ts';

/** The data behind a caller's rules and inbox. */
export interface NotificationSources {
  registry: Registry;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
  eventReport: Owned<EventReport>;
  config: {
    /** Whether webhooks may use plain HTTP and target private network addresses. */
    allowPrivateWebhooks: boolean;
    /** Whether the operator vouches for an e-mail address. Default: for none. */
    isTrustedAddress?: (address: string) => boolean;
  };
}

/** Fields of a rule that its owner sets. If `webhookSecret` is undefined, the service generates it. */
export type RuleWish = Omit<NotificationRuleFields, 'ownerId'> & { webhookSecret: string | undefined };

/** A rule with its recent activity, and the states of its e-mail addresses. */
export type ListedRule = NotificationRule & ListedEmails & RuleActivity;

/** A rule as shown to its owner, with the webhook's secret if this call set one. */
export interface RuleShown {
  rule: ListedRule;
  webhookSecret: string | null;
}

const NO_ACTIVITY: RuleActivity = { lastNotifiedAtMs: null, failedDeliveries: 0 };

/** A caller's notification rules. */
export class RuleAccess {
  readonly #caller: User;
  readonly #sources: NotificationSources;
  readonly #names: RuleNames;
  readonly #emails: EmailStates;

  constructor(caller: User, sources: NotificationSources) {
    this.#caller = caller;
    this.#sources = sources;
    this.#names = new RuleNames(caller, sources.directory);
    this.#emails = new EmailStates(sources);
  }

  async get(id: NotificationRuleId): Promise<ListedRule> {
    return this.#listed(await this.stored(id));
  }

  /** @param ownerId only rules of this account; null: all that the caller may see */
  async page(ownerId: UserId | null, paging: Paging): Promise<Page<ListedRule>> {
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

  async add({ webhookSecret, ...fields }: RuleWish): Promise<RuleShown> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    for (const list of RULE_LISTS) this.#names.requireVisible(list, fields[list]);
    this.#names.requireSensors(fields.sensors, null);
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

  /** @param change computes the new fields from the current ones */
  async change(
    id: NotificationRuleId,
    ifMatch: number | null,
    change: (current: NotificationRule) => RuleWish,
  ): Promise<RuleShown> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const { notificationRules } = this.#sources.registry;
    const current = await this.stored(id);
    const shown = this.#names.shown(current);
    const { webhookSecret, ...fields } = change(shown);
    for (const list of RULE_LISTS) {
      if (fields[list] === shown[list]) Object.assign(fields, { [list]: current[list] });
      else {
        this.#names.requireVisible(list, fields[list]);
        if (fields[list] !== null)
          Object.assign(fields, { [list]: [...fields[list], ...this.#names.unseen(list, current)] });
      }
    }
    this.#names.requireSensors(fields.sensors, current.sensors);
    requireSense(fields);
    if (fields.webhookUrl !== current.webhookUrl) this.#requireWebhook(fields.webhookUrl);

    requireCommandScope(this.#caller, fields.command);
    if (fields.command !== current.command) requireCommand(this.#sources.directory.ownerOf(current), fields.command);
    if (fields.channelIds !== current.channelIds) await this.#requireChannels(current.ownerId, fields.channelIds);
    if (fields.emails !== current.emails || fields.escalateTo !== current.escalateTo)
      await this.#emails.request(current.ownerId, addressesOf(fields), fields.language);
    let secret: string | null | undefined = webhookSecret;
    if (fields.webhookUrl === null) secret = null;
    else if (secret === undefined && (await notificationRules.webhook(id)).secret === null)
      secret = createWebhookSecret(randomBytes);

    const version = ifMatch ?? current.version;
    const rule = await namingSomething(notificationRules.update(id, version, fields, secret));
    return { rule: await this.#listed(rule), webhookSecret: secret ?? null };
  }

  async remove(id: NotificationRuleId, ifMatch: number | null): Promise<void> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    await this.stored(id);
    await this.#sources.registry.notificationRules.delete(id, ifMatch);
  }

  /**
   * Sends one test message over a channel of the rule.
   *
   * @param target one of the rule's e-mail addresses; null for its webhook
   * @throws {TooManyTestsError} when the caller sent too many
   */
  async testChannel(id: NotificationRuleId, target: string | null): Promise<ChannelTest> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const rule = await this.stored(id);
    const { webhookUrl } = rule;
    if (target === null && webhookUrl === null) throw badField('/channel', 'The rule has no webhook.');
    if (target !== null && !addressesOf(rule).includes(target))
      throw badField('/address', 'It is not one of the addresses of the rule.');
    return this.#sources.registry.channelTests.request({
      userId: this.#caller.id,
      ruleId: id,
      channel: target === null ? 'webhook' : 'email',
      target: target ?? webhookUrl ?? '',
    });
  }

  /** The caller's channel tests, the newest first. */
  async channelTests(id: NotificationRuleId): Promise<ChannelTest[]> {
    await this.stored(id);
    return this.#sources.registry.channelTests.list(this.#caller.id, id);
  }

  /** How the caller reads messages, in their own or the given language. */
  reader(timeZone: string, language: string | null): Promise<MessageReader> {
    return ruleReaderOf(this.#sources.registry, { ownerId: this.#caller.id, timeZone, language });
  }

  async #listed(rule: NotificationRule): Promise<ListedRule> {
    const [listed] = await this.#allListed([rule]);
    if (listed === undefined) throw notFound();
    return listed;
  }

  async #allListed(rules: readonly NotificationRule[]): Promise<ListedRule[]> {
    const activity = await this.#sources.registry.notificationRules.activity(rules.map(({ id }) => id));
    const shown = rules.map((rule) => this.#names.shown(rule));
    const states = await this.#emails.addToAll(
      shown.map((rule) => ({ ownerId: rule.ownerId, emails: addressesOf(rule) })),
    );
    return shown.map((rule, nth) => ({
      ...rule,
      emailStates: states[nth]?.emailStates ?? [],
      ...(activity.get(rule.id) ?? NO_ACTIVITY),
    }));
  }

  /**
   * The stored rule, including what the caller may not see.
   *
   * @throws {Problem} when the rule does not exist for the caller
   */
  async stored(id: NotificationRuleId): Promise<NotificationRule> {
    const rule = await this.#sources.registry.notificationRules.get(id);
    if (rule === null || rightToNotificationRule(this.#caller, rule) === 'none') throw notFound();
    return rule;
  }

  /** A rule may only use channels of its owner. */
  async #requireChannels(ownerId: UserId, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const channels = await this.#sources.registry.messageChannels.list(ownerId);

    const own = new Set(channels.filter(({ kind }) => kind !== 'web-push').map(({ id }) => id));
    for (const [nth, id] of ids.entries())
      if (!own.has(id)) throw badField(`/channelIds/${nth}`, 'The owner of the rule has no such channel.');
  }

  #requireWebhook(url: string | null): void {
    if (url === null) return;
    const { allowPrivateWebhooks } = this.#sources.config;
    const wrong = url.includes(HIDDEN_URL_MARK)
      ? 'This is the hidden form of a URL, in which it is shown: give the complete URL.'
      : checkWebhookUrl(url, { allowPrivateAddresses: allowPrivateWebhooks });
    if (wrong !== null) throw badField('/webhook/url', wrong);
  }
}

/** All e-mail addresses of the rule, without duplicates. */
function addressesOf({ emails, escalateTo }: Pick<NotificationRule, 'emails' | 'escalateTo'>): string[] {
  return [...new Set([...emails, ...escalateTo])];
}

async function namingSomething<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof NamesNothingError)
      throw new Problem('conflict', 'All objects that the rule named were deleted: first name others, or all.', {
        errors: [{ pointer: '/active', detail: `The rule no longer names any objects: ${error.reason}.` }],
      });
    throw error;
  }
}

/** An API key that may not send commands may not set them in a rule either. */
function requireCommandScope(caller: User, command: RuleCommand | null): void {
  if (command !== null && !hasScope(caller, 'commands')) throw scopeNeeded('commands');
}

/** A rule may only send commands that its owner may send. */
function requireCommand(owner: User | undefined, command: RuleCommand | null): void {
  if (command !== null && (owner === undefined || !mayCommand(owner, command.type)))
    throw new Problem('forbidden', `The owner of the rule may not send commands of type ${command.type}.`);
}
