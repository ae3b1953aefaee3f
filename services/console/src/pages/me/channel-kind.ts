import type { MessageChannel } from '@outrider/client';
import { CHANNEL_KINDS } from '../../channel-kinds.ts';
import { language } from '../../words/words.ts';

type Words = Readonly<Record<'en' | 'ru' | 'de' | 'es' | 'he', string>>;

/** A setting in the form of a channel. */
export type ChannelField = {
  label?: Words;
  hint?: Words;
  onlyWith?: { setting: string; values: readonly string[] };
} & (
  | { type: 'text'; maxChars?: number; default?: string; suggested?: string; isLong?: true; placeholder?: string }
  | { type: 'choice'; values: readonly string[]; default: string }
  | { type: 'headers'; maxHeaders: number }
);

/** Description of a kind of channel. */
export interface ChannelKindForm {
  name: Words;
  /** Text of the button that opens the form; null: the channel is added in another way. */
  add: Words | null;
  note?: Words;
  /** Name of the setting that shows where messages are sent. */
  target: string;
  fields: Readonly<Record<string, ChannelField>>;
  secret: { isRequired: boolean; label?: Words; hint?: Words };
}

export type ChannelKindName = MessageChannel['kind'];
export type ChannelSettings = Readonly<Record<string, unknown>>;

export const KINDS: Readonly<Record<ChannelKindName, ChannelKindForm>> = CHANNEL_KINDS;
export const KIND_NAMES = Object.keys(KINDS) as ChannelKindName[];

/** A description's text in the current language. */
export const said = (words: Words): string => words[language.value as keyof Words] ?? words.en;
