import type { Config, Variables } from '@outrider/runtime';
import type { Language } from '@outrider/words';
import type { GuardedHttp } from './guarded-http.ts';
import type { WebPushContext } from './kinds/web-push.ts';
import type { SendResult } from './send-result.ts';

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

/** Words of the console. */
export type Words = Readonly<Record<Language, string>>;

/** A setting, for the REST API and the console's form. */
export type ChannelSetting = {
  /** Markdown, for the REST API. */
  doc?: string;
  /** Of kinds that users add by a form. */
  label?: Words;
  hint?: Words;
  /** A setting without which this one means nothing, and its values that it goes with. */
  onlyWith?: { setting: string; values: readonly string[] };
} & (
  | {
      type: 'text';
      maxChars?: number;
      default?: string;
      /** What the form of a new channel begins with. Default: the default. */
      suggested?: string;
      /** Of several lines. */
      isLong?: true;
      placeholder?: string;
    }
  | { type: 'choice'; values: readonly [string, ...string[]]; default: string }
  | { type: 'headers'; maxHeaders: number }
);

/** A way of sending messages that users set up by themselves. `Settings` are shown to them; the secret never is. */
export interface ChannelKind<Settings extends object, Operated extends Variables = Variables> {
  /** Of its settings in the REST API. */
  schemaName: string;
  example: Settings;
  /** In a sentence of the REST API, such as "a browser". */
  about: string;
  name: Words;
  /** On the button that opens the form; null: it is added otherwise. */
  add: Words | null;
  /** Above the fields of the form. */
  note?: Words;
  /** All that it has. */
  settings: { readonly [Name in keyof Settings & string]: ChannelSetting };
  /** The setting that shows where its messages go. */
  target: keyof Settings & string;
  secret: {
    /** Markdown, for the REST API. */
    doc?: string;
    isRequired: boolean;
    label?: Words;
    hint?: Words;
    /** Null where nothing is wrong with it. */
    fault(secret: string | null): string | null;
  };
  /** Does who reads it confirm first that messages are wanted? */
  needsConfirmation: boolean;
  /** What the operator sets for all channels of the kind. */
  variables?: Operated;
  /** Null where nothing is. */
  fault(settings: Settings, options: { allowPrivateAddresses: boolean }): ChannelFault | null;
  /** Who has to take its messages: deliveries to one endpoint are bounded together. */
  endpointOf(settings: Settings): string;
  /** One attempt. Never rejects. */
  send(
    settings: Settings,
    secret: string | null,
    message: ChannelMessage,
    context: ChannelContext & { config: Config<Operated> },
  ): Promise<SendResult>;
}

/** Describes a kind, with its settings as types. */
export function channelKind<Settings extends object, const Operated extends Variables = Record<never, never>>(
  kind: ChannelKind<Settings, Operated>,
): ChannelKind<Settings, Operated> {
  return kind;
}

/** The same in each language. */
export function everywhere(text: string): Words {
  return { en: text, ru: text, de: text, es: text, he: text };
}
