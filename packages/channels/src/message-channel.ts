import type { Config, Variables } from '@outrider/runtime';
import type { ChannelContext, ChannelKind, ChannelMessage } from './channel-kind.ts';
import { httpChannel } from './kinds/http.ts';
import { telegramChannel } from './kinds/telegram.ts';
import { webPushChannel } from './kinds/web-push.ts';
import { failedForGood, type SendResult } from './send-result.ts';

/** All kinds of channels that users set up, by name. */
export const MESSAGE_CHANNELS = {
  telegram: telegramChannel,
  http: httpChannel,
  'web-push': webPushChannel,
} as const;
export type MessageChannelKind = keyof typeof MESSAGE_CHANNELS;
export const MESSAGE_CHANNEL_KINDS = Object.keys(MESSAGE_CHANNELS) as [MessageChannelKind, ...MessageChannelKind[]];

/** All channels for the delivery of notifications. */
export const DELIVERY_CHANNELS = ['email', 'webhook', ...MESSAGE_CHANNEL_KINDS] as const;

type Operated<Kind> = Kind extends { variables?: infer V extends Variables } ? V : never;
type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer Together) => void
  ? Together
  : never;
/** Settings by the operator for these kinds of channels. */
export const channelVariables = Object.assign(
  {},
  ...Object.values(MESSAGE_CHANNELS).map(({ variables = {} }) => variables),
) as All<Operated<(typeof MESSAGE_CHANNELS)[MessageChannelKind]>>;

/** Dependencies of all kinds of channels for sending. */
export type SendContext = ChannelContext & { config: Config<typeof channelVariables> };

/** All kinds, regardless of the type of their settings. */
export const CHANNEL_DESCRIPTIONS = Object.entries(MESSAGE_CHANNELS) as unknown as readonly (readonly [
  MessageChannelKind,
  ChannelKind<object>,
])[];
const byKind: ReadonlyMap<string, ChannelKind<object>> = new Map(CHANNEL_DESCRIPTIONS);

/** A kind by name, regardless of the type of its settings; null if it does not exist. */
export function messageChannel(kind: string): ChannelKind<object> | null {
  return byKind.get(kind) ?? null;
}

/** Makes one attempt to send a message over a user's channel. Never rejects. */
export async function sendOver(
  { kind, settings }: { kind: string; settings: object },
  secret: string | null,
  message: ChannelMessage,
  context: SendContext,
): Promise<SendResult> {
  const of = messageChannel(kind);
  return of === null ? failedForGood('The channel no longer exists.') : of.send(settings, secret, message, context);
}
