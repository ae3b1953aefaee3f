import { isUuid, readUuid } from '@outrider/domain';
import { z } from 'zod';

/*
 * Fields that need no other package: the thread that checks geometries has them too.
 */

/** No control characters: they do not belong in a name, and PostgreSQL rejects NUL. */
const PRINTABLE = /^\P{Cc}*$/u;

/** Single-line text for people. */
export function line(maxCharacters: number) {
  return z.string().trim().min(1).max(maxCharacters).regex(PRINTABLE, 'It must not contain control characters.');
}

/** Text for people, of one or several lines. */
export function text(maxCharacters: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxCharacters)
    .regex(/^[^\p{Cc}]*(?:[\r\n\t][^\p{Cc}]*)*$/u, 'It must not contain control characters.');
}

/** A UUID as the service writes it. */
export const UUID_PATTERN = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/**
 * A UUID of the service. Upper case is accepted and converted to lower case, so that each thing has one spelling, and
 * tags, cursors and repeated requests compare. The caller brands the type with `as`.
 */
export function id<Id extends string>() {
  return z
    .string()
    .overwrite((text) => readUuid(text) ?? text)
    .refine(isUuid, 'It must be a UUID.')
    .meta({ format: 'uuid', pattern: `^${UUID_PATTERN}$`, examples: ['01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57'] })
    .transform((text) => text as Id);
}

/** Several values of a query parameter: either the parameter is repeated, or its values are separated by commas. */
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
