import type { Language } from '@outrider/words';

/** Formats of a message for its reader. */
export interface MessageReader {
  language: Language;
  /** IANA name, such as `Europe/Berlin`; times are given in it, with its offset. */
  timeZone: string;
  units: 'metric' | 'imperial';
}

/** Formats a day in a language. */
export function messageDay(day: Temporal.PlainDate, language: Language): string {
  // English is read worldwide, and its countries write days differently: the ISO format is unambiguous.
  return language === 'en' ? day.toString() : day.toLocaleString(language, { dateStyle: 'medium' });
}

/**
 * Formats a time such as `2026-03-29 14:05:09 +02:00 (Europe/Berlin)`, with the day as the language writes it.
 *
 * @throws RangeError for a time zone that does not exist
 */
export function messageTime(timeMs: number, { language, timeZone }: Omit<MessageReader, 'units'>): string {
  const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(timeMs)).toZonedDateTimeISO(timeZone);
  const clock = time.toPlainTime().toString({ smallestUnit: 'second' });
  return `${messageDay(time.toPlainDate(), language)} ${clock} ${time.offset} (${time.timeZoneId})`;
}
