import type { GuardedHttp } from './guarded-http.ts';
import { httpChannel } from './kinds/http.ts';
import { telegramChannel } from './kinds/telegram.ts';
import { type WebPushContext, webPushChannel } from './kinds/web-push.ts';
import { failedForGood, type SendResult } from './send-result.ts';

/** A message in words. */
export interface ChannelMessage {
  /** The same on every attempt. */
  id: string;
  /** One line. */
  title: string;
  text: string;
  /** Where the console shows more: a path. Default: the inbox. */
  path?: string;
  /** Of the words. */
  language?: string;
  direction?: 'ltr' | 'rtl';
}

/** What channels send with. */
export interface ChannelContext {
  http: GuardedHttp;
  /** Where the bots of Telegram are reached. */
  telegramUrl: string;
  /** Null: browsers are not sent messages. */
  webPush: WebPushContext | null;
  /** Also plain http, and endpoints inside the own network. */
  allowPrivateAddresses: boolean;
  /** The endpoint has not proven to answer. */
  isUnproven: boolean;
}

/** What is wrong with the settings of a channel: where in them, as a JSON pointer, and why. */
export interface ChannelFault {
  pointer: string;
  detail: string;
}

/** A way of sending messages that users set up by themselves. `Settings` are shown to them; the secret never is. */
export interface ChannelKind<Settings extends object> {
  /** Does who reads it confirm first that messages are wanted? */
  needsConfirmation: boolean;
  /** Names of all its settings: a channel has no other. */
  settingNames: readonly (keyof Settings & string)[];
  /** Null where nothing is. */
  fault(settings: Settings, options: { allowPrivateAddresses: boolean }): ChannelFault | null;
  /** Null where nothing is. */
  secretFault(secret: string | null): string | null;
  /** Who has to take its messages: deliveries to one endpoint are bounded together. */
  endpointOf(settings: Settings): string;
  /** One attempt. Never rejects. */
  send(
    settings: Settings,
    secret: string | null,
    message: ChannelMessage,
    context: ChannelContext,
  ): Promise<SendResult>;
}

/** All kinds, by name. */
export const MESSAGE_CHANNELS = {
  telegram: telegramChannel,
  http: httpChannel,
  'web-push': webPushChannel,
} as const;
export type MessageChannelKind = keyof typeof MESSAGE_CHANNELS;
export const MESSAGE_CHANNEL_KINDS = Object.keys(MESSAGE_CHANNELS) as MessageChannelKind[];

/** A kind by name, whatever its settings; null where there is no such kind. */
export function messageChannel(kind: string): ChannelKind<object> | null {
  return Object.hasOwn(MESSAGE_CHANNELS, kind)
    ? (MESSAGE_CHANNELS[kind as MessageChannelKind] as unknown as ChannelKind<object>)
    : null;
}

/** One attempt to send a message over a channel of a user. Never rejects. */
export async function sendOver(
  { kind, settings }: { kind: string; settings: object },
  secret: string | null,
  message: ChannelMessage,
  context: ChannelContext,
): Promise<SendResult> {
  const of = messageChannel(kind);
  return of === null
    ? failedForGood('There is no such channel any more.')
    : of.send(settings, secret, message, context);
}
