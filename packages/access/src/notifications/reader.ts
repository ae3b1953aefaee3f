import type { MessageReader } from '@outrider/channels';
import type { UserId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { type Language, languageOf } from '@outrider/words';

/** Store of the preferences. */
export interface PreferenceSource {
  preferences: Pick<Registry['preferences'], 'get'>;
}

/** Preferences that determine how a person reads messages. */
interface Stored {
  language?: unknown;
  browserLanguage?: unknown;
  timeZone?: unknown;
  browserTimeZone?: unknown;
  units?: unknown;
}

/**
 * How a person reads messages: as chosen in their preferences, else as their browser reported last, else in English.
 *
 * @param timeZone used if neither is known
 */
export async function readerOf(registry: PreferenceSource, id: UserId, timeZone: string): Promise<MessageReader> {
  const stored: Stored = (await registry.preferences.get(id)) ?? {};
  return {
    language: languageOf(textOf(stored.language) ?? textOf(stored.browserLanguage)),
    timeZone: [stored.timeZone, stored.browserTimeZone].map(textOf).find(isTimeZone) ?? timeZone,
    units: stored.units === 'imperial' ? 'imperial' : 'metric',
  };
}

/** Reader of a rule's messages: its owner, but in the language of the rule if it has one. */
export async function ruleReaderOf(
  registry: PreferenceSource,
  { ownerId, timeZone, language }: { ownerId: UserId; timeZone: string; language: string | null },
): Promise<MessageReader> {
  const reader = await readerOf(registry, ownerId, timeZone);
  return language === null ? reader : { ...reader, language: languageOf(language) };
}

/** Message template of a rule in a language; null: the service's own text. */
export function templateOf(
  {
    messageTemplate,
    messageTemplates,
  }: { messageTemplate: string | null; messageTemplates: Readonly<Record<string, string>> },
  language: Language,
): string | null {
  return (Object.hasOwn(messageTemplates, language) ? messageTemplates[language] : undefined) ?? messageTemplate;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A zone stored by an earlier version may no longer be valid. */
function isTimeZone(zone: string | null): zone is string {
  try {
    if (zone !== null) Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return zone !== null;
  } catch {
    return false;
  }
}
