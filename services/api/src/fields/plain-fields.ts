import { isUuid, readUuid } from '@outrider/domain';
import { z } from 'zod';

/*
 * Fields that need no other package: the thread that checks geometries has them too.
 */

/** No control characters: they have no place in a name, and PostgreSQL takes no NUL. */
const PRINTABLE = /^\P{Cc}*$/u;

/** A line of text that people read. */
export function line(maxCharacters: number) {
  return z.string().trim().min(1).max(maxCharacters).regex(PRINTABLE, 'It must not hold control characters.');
}

/** Text that people write, of several lines or one. */
export function text(maxCharacters: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxCharacters)
    .regex(/^[^\p{Cc}]*(?:[\r\n\t][^\p{Cc}]*)*$/u, 'It must not hold control characters.');
}

/** A UUID as the service writes it. */
export const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * A UUID of the service, taken in upper case as well, and read in lower case: one spelling for each thing, so that
 * tags, cursors and repeated requests compare. Branded for the compiler by the caller's `as`.
 */
export function id<Id extends string>() {
  return z
    .string()
    .overwrite((text) => readUuid(text) ?? text)
    .refine(isUuid, 'It must be a UUID.')
    .meta({ format: 'uuid', pattern: `^${UUID_PATTERN}$`, examples: ['01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57'] })
    .transform((text) => text as Id);
}

/** Several values of a query: the parameter is repeated, or its values are parted by commas. */
export function severalOf<Item extends z.ZodType<unknown, string>>(item: Item, max: number) {
  const parted = (values: unknown) =>
    Array.isArray(values)
      ? values.flatMap((value) =>
          String(value)
            .split(',')
            .map((part) => part.trim()),
        )
      : values;
  return z.preprocess(parted, z.array(item).min(1).max(max));
}
