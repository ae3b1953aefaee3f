import type { Config, Variables } from '@outrider/runtime';
import type { Language } from '@outrider/words';
import type { GuardedHttp } from './guarded-http.ts';
import type { WebPushContext } from './kinds/web-push.ts';
import type { SendResult } from './send-result.ts';

/** A text message. */
export interface ChannelMessage {
  /** The same on every attempt. */
  id: string;
  /** One line. */
  title: string;
  text: string;
  /** Path of the console page with details. Default: the inbox. */
  path?: string;
  /** Language of the title and text. */
  language?: string;
  direction?: 'ltr' | 'rtl';
}

/** Dependencies of channels for sending. */
export interface ChannelContext {
  http: GuardedHttp;
  /** Null: Web Push is disabled. */
  webPush: WebPushContext | null;
  /** Whether plain http and endpoints inside the own network are allowed. */
  allowPrivateAddresses: boolean;
  /** Whether the endpoint has never responded successfully. */
  isUnproven: boolean;
}

/** A fault in the settings of a channel: its place as a JSON pointer, and the reason. */
export interface ChannelFault {
  pointer: string;
  detail: string;
}

/** A text of the console in each language. */
export type Words = Readonly<Record<Language, string>>;

/** A setting, for the REST API and the console's form. */
export type ChannelSetting = {
  /** Markdown, for the REST API. */
  doc?: string;
  /** Label in the form, for kinds that users add by a form. */
  label?: Words;
  hint?: Words;
  /** Another setting, and its values with which this setting applies. */
  onlyWith?: { setting: string; values: readonly string[] };
} & (
  | {
      type: 'text';
      maxChars?: number;
      default?: string;
      /** Initial value in the form of a new channel. Default: the default. */
      suggested?: string;
      /** Whether the text has several lines. */
      isLong?: true;
      placeholder?: string;
    }
  | { type: 'choice'; values: readonly [string, ...string[]]; default: string }
  | { type: 'headers'; maxHeaders: number }
);

/** A kind of channel that users set up by themselves. `Settings` are visible to them; the secret never is. */
export interface ChannelKind<Settings extends object, Operated extends Variables = Variables> {
  /** Name of the schema of its settings in the REST API. */
  schemaName: string;
  example: Settings;
  /** Phrase for sentences of the REST API, such as "a browser". */
  about: string;
  name: Words;
  /** Label of the button that opens the form; null: the channel is not added by a form. */
  add: Words | null;
  /** Text above the fields of the form. */
  note?: Words;
  /** Descriptions of all its settings. */
  settings: { readonly [Name in keyof Settings & string]: ChannelSetting };
  /** The setting that shows the destination of its messages. */
  target: keyof Settings & string;
  secret: {
    /** Markdown, for the REST API. */
    doc?: string;
    isRequired: boolean;
    label?: Words;
    hint?: Words;
    /** Returns the fault of a secret, or null if it is valid. */
    fault(secret: string | null): string | null;
  };
  /** Whether the recipient has to confirm first that messages are wanted. */
  needsConfirmation: boolean;
  /** Settings by the operator for all channels of the kind. */
  variables?: Operated;
  /** Returns the fault of the settings, or null if they are valid. */
  fault(settings: Settings, options: { allowPrivateAddresses: boolean }): ChannelFault | null;
  /** The receiving endpoint: deliveries to one endpoint share a limit. */
  endpointOf(settings: Settings): string;
  /** Makes one attempt. Never rejects. */
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

/** Uses the same text in each language. */
export function everywhere(text: string): Words {
  return { en: text, ru: text, de: text, es: text, he: text };
}
