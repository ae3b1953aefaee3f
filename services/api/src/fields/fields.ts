import { badParameter, type Search } from '@outrider/access';
import { emailAddress, MAX_RECIPIENTS } from '@outrider/channels';
import { isUuid } from '@outrider/domain';
import { MAIL_ADDRESS_STATES } from '@outrider/registry';
import { z } from 'zod';

export { id, line, severalOf, text, UUID_PATTERN } from './plain-fields.ts';

export function emailOf() {
  return z.string().transform((text, context) => {
    const address = emailAddress(text.trim());
    if (address === null) context.addIssue({ code: 'custom', message: 'It must be an e-mail address.' });
    return address ?? '';
  });
}

/** List of addresses that each get an e-mail. Duplicates are removed. */
export function recipients(description: string) {
  return z
    .array(emailOf())
    .max(MAX_RECIPIENTS)
    .transform((list) => [...new Set(list)])
    .meta({ description });
}

/** A UUID in a response. */
export const idOut = z.string().meta({ format: 'uuid', examples: ['01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57'] });

/** ISO 8601 in UTC with milliseconds, in a response. */
export const timeOut = z.iso.datetime({ precision: 3 }).meta({ examples: ['2026-01-15T12:00:00.000Z'] });

const NO_TIME = 'It must be a time such as 2026-01-15T12:00:00.000Z.';
/** End of a time whose `+03:00` was not encoded: a plus in a query stands for a space. */
const LOST_PLUS = / \d\d:\d\d$/;
const PLUS = 'In a query, + must be written as %2B.';
const ISO_TIME = z.iso.datetime({ offset: true });
const TIME_PATTERN = z.regexes.datetime({ offset: true }).source;
/** Times from 2001 to 2286. Numbers with more or fewer digits are ambiguous. */
const EPOCH_SECONDS = /^[1-9]\d{9}$/;
const EPOCH_MILLISECONDS = /^[1-9]\d{12}$/;
const isDay = (text: string) => z.iso.date().safeParse(text).success;

/** Unix milliseconds of a time in text; null for any other text. */
function readTime(text: string): number | null {
  if (EPOCH_SECONDS.test(text)) return Number(text) * 1000;
  if (EPOCH_MILLISECONDS.test(text)) return Number(text);
  return ISO_TIME.safeParse(text).success ? Date.parse(text) : null;
}

/** Text that is a time. Documented as ISO 8601 only; other forms are accepted because they are unambiguous. */
function timeText(isTime: (text: string) => boolean, example: string) {
  return z
    .string({ error: ({ input }) => (input === undefined ? undefined : NO_TIME) })
    .refine(isTime, {
      error: ({ input }) => (LOST_PLUS.test(String(input)) ? `${NO_TIME} ${PLUS}` : NO_TIME),
    })
    .meta({ format: 'date-time', pattern: TIME_PATTERN, examples: [example] });
}

/**
 * ISO 8601 with an offset from UTC, or Unix seconds or milliseconds, read as Unix milliseconds.
 *
 * @param example set here, because the documentation shows no example that follows a transform
 */
export function timeSuchAs(example: string) {
  return timeText((text) => readTime(text) !== null, example).transform((text) => readTime(text) ?? Number.NaN);
}
export const timeIn = timeSuchAs('2026-01-15T12:00:00.000Z');

/** End of a time range: Unix milliseconds, or a day whose beginning depends on the time zone. */
export type RangeEnd = number | { day: string };

/** As {@link timeSuchAs}, for an end of a time range: a day stands for its beginning. */
export function rangeEndSuchAs(example: string) {
  return timeText((text) => readTime(text) !== null || isDay(text), example).transform(
    (text): RangeEnd => readTime(text) ?? { day: text },
  );
}

/** Unix milliseconds of an end of a time range, in a time zone (IANA name). */
export function instantOf(end: RangeEnd, timeZone: string): number {
  return typeof end === 'number' ? end : Temporal.PlainDate.from(end.day).toZonedDateTime(timeZone).epochMilliseconds;
}

/** As {@link rangeEndSuchAs}, where no zone is named: days are in UTC. */
export function utcRangeEndSuchAs(example: string) {
  return rangeEndSuchAs(example).transform((end) => instantOf(end, 'UTC'));
}

/** An address that a rule or a schedule names, and whether it gets e-mails. */
export const EmailStatesOut = z
  .array(
    z.strictObject({
      address: z.string(),
      state: z.enum(MAIL_ADDRESS_STATES),
      suppressedToday: z.int().meta({ description: 'E-mails that were not sent today (UTC) because of a limit.' }),
    }),
  )
  .meta({
    description:
      '`pending`: a link was sent to the address and its holder has not confirmed it yet; until then nothing else is sent to it. `unsubscribed`: nothing is sent to the address until its holder confirms it again.',
  });

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const WHOLE = /^(?:0|-?[1-9]\d{0,15})$/;
const DECIMAL = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * A whole number as a query parameter: digits only, so that each number has one spelling.
 *
 * @param example set here, because the documentation shows no example that follows a transform
 */
export function wholeParameter(min: number, max: number, example: number) {
  const bounds = `It must be ${min} to ${max}.`;
  const value = z
    .int({ error: 'It must be a whole number, written in digits only.' })
    .min(min, bounds)
    .max(max, bounds)
    .meta({ examples: [example] });
  return z.preprocess((text) => (WHOLE.test(String(text)) ? Number(text) : text), value);
}

/** As {@link wholeParameter}, for any number: digits, with a decimal point before those of a fraction. */
export function decimalParameter(min: number, max: number, example: number) {
  const bounds = `It must be ${min} to ${max}.`;
  const value = z
    .number({ error: 'It must be a number such as 12.5.' })
    .min(min, bounds)
    .max(max, bounds)
    .meta({ examples: [example] });
  return z.preprocess((text) => (DECIMAL.test(String(text)) ? Number(text) : text), value);
}

/** Query parameters of every list. */
export const paging = {
  limit: wholeParameter(1, MAX_LIMIT, DEFAULT_LIMIT)
    .default(DEFAULT_LIMIT)
    .meta({ description: 'Maximum number of items on a page, at least 1.' }),
  cursor: z
    .string()
    // The cursor may contain a name of 200 characters.
    .max(1500)
    .optional()
    .meta({
      description: '`nextCursor` of the previous page.',
      examples: [writeCursor('01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57')],
    }),
};

/** Schema of the response of every list. */
export function listOf<T extends z.ZodType>(item: T) {
  const example = exampleOf(item);
  const list = z.strictObject({
    items: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: 'Pass this value as `cursor` to get the next page. Null on the last page.' }),
  });
  return example === undefined
    ? list
    : list.meta({ examples: [{ items: [example as z.output<T>], nextCursor: null }] as never });
}

/** The first example of a schema; undefined where it has none. */
export function exampleOf(schema: z.ZodType): unknown {
  return (z.globalRegistry.get(schema) as { examples?: readonly unknown[] } | undefined)?.examples?.[0];
}

/** Encodes a cursor in an opaque form. */
export function writeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/**
 * @returns null if no cursor was given
 * @throws {Problem} when this service did not write it
 */
export function readCursor<T extends z.ZodType>(schema: T, cursor: string | undefined): z.output<T> | null {
  if (cursor === undefined) return null;
  let value: unknown;
  try {
    // Decoding skips characters that are not base64url, so a damaged cursor could pass for another one.
    if (/^[\w-]+$/.test(cursor)) value = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    // An unreadable cursor is refused below, like one with unknown content.
  }
  const result = schema.safeParse(value);
  if (!result.success) throw badParameter('cursor', 'It is not the cursor of a list.');
  return result.data;
}

const idCursor = z.string().refine(isUuid);

/** Query of a list in the form that the registry takes. */
export function pageAsked(query: { limit: number; cursor?: string | undefined }): {
  limit: number;
  after: string | null;
} {
  return { limit: query.limit, after: readCursor(idCursor, query.cursor) };
}

/** Query parameters of lists that can be searched and sorted by these fields. */
export function searching<const Field extends string>(...fields: readonly [Field, ...Field[]]) {
  return {
    q: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .optional()
      .meta({
        description:
          'Return only items with this text in their name or in another field that identifies them, such as a number. Case-insensitive.',
        examples: ['van'],
      }),
    sort: z
      .enum([...fields, ...fields.map((field) => `-${field}` as const)])
      .optional()
      .meta({
        description: 'Field to sort by, with a leading `-` in descending order. Default: the order of creation.',
      }),
  };
}

const searchCursor = z.tuple([z.string(), z.string().refine(isUuid)]);

/**
 * Search that a list was asked for. Null if the list is neither searched nor sorted, so that the registry is read page
 * by page.
 *
 * @param isFiltered whether the list is filtered by something that the registry cannot filter by
 */
export function searchAsked<Field extends string>(
  query: {
    q?: string | undefined;
    sort?: Field | `-${Field}` | undefined;
    limit: number;
    cursor?: string | undefined;
  },
  isFiltered = false,
): Search<Field> | null {
  const { q, sort, limit, cursor } = query;
  if (q === undefined && sort === undefined && !isFiltered) return null;
  return {
    text: q ?? '',
    field: sort === undefined ? null : (sort.replace(/^-/, '') as Field),
    descending: sort?.startsWith('-') ?? false,
    limit,
    after: readCursor(searchCursor, cursor),
  };
}

/** Response with one page of a list. */
export function pageReply<T>(page: { items: readonly T[]; next: unknown }, show: (item: T) => unknown) {
  return {
    status: 200,
    body: { items: page.items.map(show), nextCursor: page.next === null ? null : writeCursor(page.next) },
  };
}
