import {
  createVapidKeys,
  fingerprintOf,
  type MessageChannelKind,
  messageChannel,
  type PushSubscription,
  subscriptionFault,
} from '@outrider/channels';
import type { User } from '@outrider/domain';
import type { ChannelTest, KeyPair, MessageChannel, Registry } from '@outrider/registry';
import { badField, notFound, Problem } from '../problem.ts';
import { requireRight, requireUnlimited } from '../rights.ts';

export interface MessageChannelSources {
  registry: Pick<Registry, 'messageChannels' | 'channelTests' | 'serviceKeys'>;
  config: { allowPrivateWebhooks: boolean; push: PushAccessConfig };
}

/** Settings for push messages to browsers. */
export interface PushAccessConfig {
  /** Host names of the allowed push services. */
  hosts: readonly string[];
  /** Key pair of the service; null: the one in the registry is used. */
  keys: KeyPair | null;
}

/** Fields of a channel that its user sets; `secret` undefined: unchanged. */
export interface MessageChannelWish {
  kind: Exclude<MessageChannelKind, 'web-push'>;
  name: string;
  settings: object;
  secret: string | null | undefined;
}

/** Most channels of one account. */
const MAX_CHANNELS = 50;

/** A caller's own channels, as the part of `Access` for them. Nobody sees those of others, including operators. */
export class MessageChannelAccess {
  readonly #caller: User;
  readonly #sources: MessageChannelSources;

  constructor(caller: User, sources: MessageChannelSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  list(): Promise<MessageChannel[]> {
    return this.#channels.list(this.#caller.id);
  }

  get(id: string): Promise<MessageChannel> {
    return this.#own(id);
  }

  async add({ kind, name, settings, secret = null }: MessageChannelWish): Promise<MessageChannel> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    await this.#requireFewer();
    const of = this.#checked(kind, settings);
    const wrong = of.secret.fault(secret);
    if (wrong !== null) throw badField('/secret', wrong);
    const fields = { userId: this.#caller.id, kind, name, settings, endpoint: of.endpointOf(settings) };
    return this.#channels.create({ ...fields, state: of.needsConfirmation ? 'pending' : 'confirmed' }, secret);
  }

  /** Public key with which browsers subscribe. */
  async pushKey(): Promise<string> {
    const { registry, config } = this.#sources;
    return (config.push.keys ?? (await registry.serviceKeys.pair('web-push', createVapidKeys))).publicKey;
  }

  /** Registers a browser for push messages. A browser registered for another account is moved to this one. */
  async addBrowser(name: string, subscription: PushSubscription): Promise<MessageChannel> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    await this.#requireFewer();
    const { allowPrivateWebhooks, push } = this.#sources.config;
    const { hosts } = push;
    const fault = subscriptionFault(subscription, { hosts, allowPrivateAddresses: allowPrivateWebhooks });
    if (fault !== null) throw badField(`/subscription${fault.pointer}`, fault.detail);
    const { endpoint, keys } = subscription;
    const fingerprint = fingerprintOf(endpoint);
    const { host, origin } = new URL(endpoint);
    const settings = { service: host, fingerprint };
    const fields = { userId: this.#caller.id, kind: 'web-push', name, settings, endpoint: origin };
    return this.#channels.create({ ...fields, state: 'confirmed' }, JSON.stringify({ endpoint, keys }), fingerprint);
  }

  /** @param change computes the new fields from the current ones */
  async change(
    id: string,
    change: (current: MessageChannel) => Pick<MessageChannelWish, 'name' | 'settings' | 'secret'>,
  ): Promise<MessageChannel> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const current = await this.#own(id);
    const { name, settings, secret } = change(current);
    if (current.kind === 'web-push') {
      if (secret !== undefined || JSON.stringify(settings) !== JSON.stringify(current.settings))
        throw badField('/settings', 'Only the name of a browser can be changed.');
      return this.#channels.update(id, { ...current, name });
    }
    const of = this.#checked(current.kind, settings);
    const wrong = secret === undefined ? null : of.secret.fault(secret);
    if (wrong !== null) throw badField('/secret', wrong);
    // Another chat may have other readers, so it must be confirmed anew.
    const isSame = JSON.stringify(settings) === JSON.stringify(current.settings) && secret === undefined;
    const state = of.needsConfirmation && !isSame ? 'pending' : current.state;
    return this.#channels.update(id, { name, state, settings, endpoint: of.endpointOf(settings) }, secret);
  }

  /** Does not require the right to edit notifications, so that browsers can always be unsubscribed. */
  async remove(id: string): Promise<void> {
    requireUnlimited(this.#caller);
    await this.#own(id);
    await this.#channels.delete(id);
  }

  /** @throws {Problem} where the code is not the one that was sent */
  async confirm(id: string, code: string): Promise<MessageChannel> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const { state } = await this.#own(id);
    if (state === 'pending' && !(await this.#channels.confirm(id, code)))
      throw badField('/code', 'The code is wrong or has expired: send a new one.');
    return this.#own(id);
  }

  /** Sends one message over the channel. To an unconfirmed channel, it sends the code. */
  async test(id: string): Promise<ChannelTest> {
    requireUnlimited(this.#caller);
    requireRight(this.#caller, 'edit-notifications');
    const { kind } = await this.#own(id);
    const { registry } = this.#sources;
    return registry.channelTests.request({ userId: this.#caller.id, ruleId: null, channel: kind, target: id });
  }

  async tests(id: string): Promise<ChannelTest[]> {
    await this.#own(id);
    return this.#sources.registry.channelTests.listOfTarget(this.#caller.id, id);
  }

  async #requireFewer(): Promise<void> {
    const known = await this.list();
    if (known.length >= MAX_CHANNELS)
      throw new Problem('conflict', `An account can have at most ${MAX_CHANNELS} message channels.`);
  }

  get #channels(): Registry['messageChannels'] {
    return this.#sources.registry.messageChannels;
  }

  #checked(kind: string, settings: object) {
    const of = messageChannel(kind);
    if (of === null) throw notFound();
    const allowPrivateAddresses = this.#sources.config.allowPrivateWebhooks;
    if (Object.keys(settings).some((name) => !Object.hasOwn(of.settings, name)))
      throw badField('/settings', 'A channel of this kind does not have all of these settings.');
    const fault = of.fault(settings, { allowPrivateAddresses });
    if (fault !== null) throw badField(`/settings${fault.pointer}`, fault.detail);
    return of;
  }

  async #own(id: string): Promise<MessageChannel> {
    const channel = await this.#channels.get(id);
    if (channel === null || channel.userId !== this.#caller.id) throw notFound();
    return channel;
  }
}
