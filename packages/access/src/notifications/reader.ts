import type { MessageReader } from '@outrider/channels';
import type { UserId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { type Language, languageOf } from '@outrider/words';

/** Where preferences are stored. */
export interface PreferenceSource {
  preferences: Pick<Registry['preferences'], 'get'>;
}

/** What of a person's preferences says how they read. */
interface Stored {
  language?: unknown;
  browserLanguage?: unknown;
  timeZone?: unknown;
  browserTimeZone?: unknown;
  units?: unknown;
}

/**
 * How a person reads, by their preferences: what was chosen, else what their browser said last, else English.
 *
 * @param timeZone where neither is known
 */
export async function readerOf(registry: PreferenceSource, id: UserId, timeZone: string): Promise<MessageReader> {
  const stored: Stored = (await registry.preferences.get(id)) ?? {};
  return {
    language: languageOf(textOf(stored.language) ?? textOf(stored.browserLanguage)),
    timeZone: [stored.timeZone, stored.browserTimeZone].map(textOf).find(isTimeZone) ?? timeZone,
    units: stored.units === 'imperial' ? 'imperial' : 'metric',
  };
}

/** How messages of a rule are read: as its owner reads, in the language of the rule where it has one. */
export async function ruleReaderOf(
  registry: PreferenceSource,
  { ownerId, timeZone, language }: { ownerId: UserId; timeZone: string; language: string | null },
): Promise<MessageReader> {
  const reader = await readerOf(registry, ownerId, timeZone);
  return language === null ? reader : { ...reader, language: languageOf(language) };
}

/** What a rule's messages say in a language; null: the words of the service. */
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

/** What an earlier version stored may not be one any more. */
function isTimeZone(zone: string | null): zone is string {
  try {
    if (zone !== null) Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
    return zone !== null;
  } catch {
    return false;
  }
}
