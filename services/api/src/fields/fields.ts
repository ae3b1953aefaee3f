import { badParameter, type Search } from '@outrider/access';
import { emailAddress, MAX_RECIPIENTS } from '@outrider/channels';
import { isUuid } from '@outrider/domain';
import { MAIL_ADDRESS_STATES } from '@outrider/registry';
import { z } from 'zod';

export { id, line, severalOf, text, UUID_PATTERN } from './plain-fields.ts';

/** An e-mail address. */
export function emailOf() {
  return z.string().transform((text, context) => {
    const address = emailAddress(text.trim());
    if (address === null) context.addIssue({ code: 'custom', message: 'It must be an e-mail address.' });
    return address ?? '';
  });
}

/** Addresses that each get an e-mail, once however often they stand there. */
export function recipients(description: string) {
  return z
    .array(emailOf())
    .max(MAX_RECIPIENTS)
    .transform((list) => [...new Set(list)])
    .meta({ description });
}

/** A UUID in an answer. */
export const idOut = z.string().meta({ format: 'uuid', examples: ['01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57'] });

/** ISO 8601 in UTC with milliseconds, in an answer. */
export const timeOut = z.iso.datetime({ precision: 3 }).meta({ examples: ['2026-01-15T12:00:00.000Z'] });

const NO_TIME = 'It must be a time such as 2026-01-15T12:00:00.000Z.';
/** In a query a plus stands for a space: what is left of `+03:00` that was not encoded. */
const LOST_PLUS = / \d\d:\d\d$/;
const PLUS = 'In a query, + is written %2B.';
const ISO_TIME = z.iso.datetime({ offset: true });
const TIME_PATTERN = z.regexes.datetime({ offset: true }).source;
/** Of 2001 to 2286: what is longer or shorter may be something else. */
const EPOCH_SECONDS = /^[1-9]\d{9}$/;
const EPOCH_MILLISECONDS = /^[1-9]\d{12}$/;
const isDay = (text: string) => z.iso.date().safeParse(text).success;

/** Unix milliseconds of a time in text; null for any other text. */
function readTime(text: string): number | null {
  if (EPOCH_SECONDS.test(text)) return Number(text) * 1000;
  if (EPOCH_MILLISECONDS.test(text)) return Number(text);
  return ISO_TIME.safeParse(text).success ? Date.parse(text) : null;
}

/** Text that is a time, described as ISO 8601: its other forms are taken because they can mean nothing else. */
function timeText(isTime: (text: string) => boolean, example: string) {
  return z
    .string({ error: ({ input }) => (input === undefined ? undefined : NO_TIME) })
    .refine(isTime, {
      error: ({ input }) => (LOST_PLUS.test(String(input)) ? `${NO_TIME} ${PLUS}` : NO_TIME),
    })
    .meta({ format: 'date-time', pattern: TIME_PATTERN, examples: [example] });
}

/**
 * ISO 8601 with an offset from UTC, or Unix seconds or milliseconds, as Unix milliseconds.
 *
 * @param example shown here, because the documentation shows none that stands after a transform
 */
export function timeSuchAs(example: string) {
  return timeText((text) => readTime(text) !== null, example).transform((text) => readTime(text) ?? Number.NaN);
}
export const timeIn = timeSuchAs('2026-01-15T12:00:00.000Z');

/** An end of a time range: Unix milliseconds, or the day that begins there by some clock. */
export type RangeEnd = number | { day: string };

/** As {@link timeSuchAs}, of an end of a time range: a day stands for its beginning. */
export function rangeEndSuchAs(example: string) {
  return timeText((text) => readTime(text) !== null || isDay(text), example).transform(
    (text): RangeEnd => readTime(text) ?? { day: text },
  );
}

/** Unix milliseconds of an end of a time range, by the clock of a zone (IANA name). */
export function instantOf(end: RangeEnd, timeZone: string): number {
  return typeof end === 'number' ? end : Temporal.PlainDate.from(end.day).toZonedDateTime(timeZone).epochMilliseconds;
}

/** As {@link rangeEndSuchAs}, where no zone is named: days are of UTC. */
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
      '`pending`: its holder was sent a link and has not confirmed it yet; until then it gets nothing else. `unsubscribed`: its holder wants nothing, until the holder confirms it again.',
  });

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const WHOLE = /^(?:0|-?[1-9]\d{0,15})$/;
const DECIMAL = /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/;

/**
 * A whole number among the parameters of a query: digits alone, so that each number has one spelling.
 *
 * @param example shown here, because the documentation shows none that stands after a transform
 */
export function wholeParameter(min: number, max: number, example: number) {
  const bounds = `It must be ${min} to ${max}.`;
  const value = z
    .int({ error: 'It must be a whole number, in digits alone.' })
    .min(min, bounds)
    .max(max, bounds)
    .meta({ examples: [example] });
  return z.preprocess((text) => (WHOLE.test(String(text)) ? Number(text) : text), value);
}

/** As {@link wholeParameter}, of any number: digits, and a point before those of a fraction. */
export function decimalParameter(min: number, max: number, example: number) {
  const bounds = `It must be ${min} to ${max}.`;
  const value = z
    .number({ error: 'It must be a number such as 12.5.' })
    .min(min, bounds)
    .max(max, bounds)
    .meta({ examples: [example] });
  return z.preprocess((text) => (DECIMAL.test(String(text)) ? Number(text) : text), value);
}

/** Query of every list. */
export const paging = {
  limit: wholeParameter(1, MAX_LIMIT, DEFAULT_LIMIT)
    .default(DEFAULT_LIMIT)
    .meta({ description: 'At most this many items, and one at least.' }),
  cursor: z
    .string()
    // It may hold a name of 200 characters.
    .max(1500)
    .optional()
    .meta({
      description: '`nextCursor` of the page before.',
      examples: [writeCursor('01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57')],
    }),
};

/** The answer of every list. */
export function listOf<T extends z.ZodType>(item: T) {
  const example = exampleOf(item);
  const list = z.strictObject({
    items: z.array(item),
    nextCursor: z.string().nullable().meta({ description: 'Ask on with this as `cursor`; null on the last page.' }),
  });
  return example === undefined
    ? list
    : list.meta({ examples: [{ items: [example as z.output<T>], nextCursor: null }] as never });
}

/** The first example of a schema; undefined where it has none. */
export function exampleOf(schema: z.ZodType): unknown {
  return (z.globalRegistry.get(schema) as { examples?: readonly unknown[] } | undefined)?.examples?.[0];
}

/** What a cursor stands for, in a form that clients have no reason to look into. */
export function writeCursor(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/**
 * @returns null where there is no cursor
 * @throws {Problem} when this service did not write it
 */
export function readCursor<T extends z.ZodType>(schema: T, cursor: string | undefined): z.output<T> | null {
  if (cursor === undefined) return null;
  let value: unknown;
  try {
    // What is no base64url would be read over, and a cursor that was spoilt taken for another.
    if (/^[\w-]+$/.test(cursor)) value = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    // An unreadable cursor is refused below, like one with unknown content.
  }
  const result = schema.safeParse(value);
  if (!result.success) throw badParameter('cursor', 'It is not a cursor that a list gave.');
  return result.data;
}

const idCursor = z.string().refine(isUuid);

/** Query of a list as the registry takes it. */
export function pageAsked(query: { limit: number; cursor?: string | undefined }): {
  limit: number;
  after: string | null;
} {
  return { limit: query.limit, after: readCursor(idCursor, query.cursor) };
}

/** Query of lists that are searched and sorted by these fields. */
export function searching<const Field extends string>(...fields: readonly [Field, ...Field[]]) {
  return {
    q: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Only those with this in a name or number that people know them by.', examples: ['van'] }),
    sort: z
      .enum([...fields, ...fields.map((field) => `-${field}` as const)])
      .optional()
      .meta({ description: 'Field to sort by; `-` before it: downwards. By default, in the order of creation.' }),
  };
}

const searchCursor = z.tuple([z.string(), z.string().refine(isUuid)]);

/**
 * What a list is searched by; null where it is neither searched nor sorted, and so read from the registry by the page.
 *
 * @param isFiltered by something else that the registry does not filter by
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

/** A page as lists answer it. */
export function pageReply<T>(page: { items: readonly T[]; next: unknown }, show: (item: T) => unknown) {
  return {
    status: 200,
    body: { items: page.items.map(show), nextCursor: page.next === null ? null : writeCursor(page.next) },
  };
}
