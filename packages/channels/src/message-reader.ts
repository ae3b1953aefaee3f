import type { Language } from '@outrider/words';

/** How a message is written for its reader. */
export interface MessageReader {
  language: Language;
  /** IANA name, such as `Europe/Berlin`; times are written in it, with its offset. */
  timeZone: string;
  units: 'metric' | 'imperial';
}

/** A day as it is written in a language. */
export function messageDay(day: Temporal.PlainDate, language: Language): string {
  // English is read around the world: no two of its countries write a day alike.
  return language === 'en' ? day.toString() : day.toLocaleString(language, { dateStyle: 'medium' });
}

/**
 * Such as `2026-03-29 14:05:09 +02:00 (Europe/Berlin)`; the day as it is written in the language.
 *
 * @throws RangeError for a time zone that does not exist
 */
export function messageTime(timeMs: number, { language, timeZone }: Omit<MessageReader, 'units'>): string {
  const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(timeMs)).toZonedDateTimeISO(timeZone);
  const clock = time.toPlainTime().toString({ smallestUnit: 'second' });
  return `${messageDay(time.toPlainDate(), language)} ${clock} ${time.offset} (${time.timeZoneId})`;
}
