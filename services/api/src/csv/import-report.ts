import type { BulkOutcome } from '@outrider/registry';
import { z } from 'zod';
import { idOut } from '../fields/fields.ts';
import type { Reply } from '../route.ts';

/** Query parameter `dryRun` of every import. */
export const dryRun = z
  .enum(['true', 'false'])
  .default('false')
  .meta({ description: '`true`: change nothing, and only return what the call would do, or all its errors.' });

const OUTCOMES = ['created', 'updated', 'unchanged'] as const;

/**
 * Schema of the response of an import.
 *
 * @param place fields that identify an item among those sent
 * @param more further fields of the response
 */
export function importReport(
  name: string,
  place: z.ZodRawShape,
  example: object,
  more: z.ZodRawShape = {},
  moreExample: object = {},
) {
  return z
    .strictObject({
      dryRun: z.boolean(),
      created: z.int(),
      updated: z.int(),
      unchanged: z.int(),
      items: z.array(
        z.strictObject({
          ...place,
          id: idOut.nullable().meta({ description: 'Null for items that a dry run would add.' }),
          outcome: z.enum(OUTCOMES),
        }),
      ),
      ...more,
    })
    .meta({
      id: name,
      examples: [
        {
          dryRun: false,
          created: 1,
          updated: 0,
          unchanged: 0,
          items: [{ ...example, id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57', outcome: 'created' }],
          ...moreExample,
        },
      ] as never,
    });
}

/** @param placeOf fields that identify the item among those sent */
export function importReply<T>(
  isDryRun: boolean,
  done: readonly { from: T; became: BulkOutcome<{ id: string }> }[],
  placeOf: (from: T) => object,
): Reply {
  const counts = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, done.filter(({ became }) => became.outcome === outcome).length]),
  );
  const items = done.map(({ from, became: { outcome, definition } }) => ({
    ...placeOf(from),
    id: isDryRun && outcome === 'created' ? null : definition.id,
    outcome,
  }));
  return { status: 200, body: { dryRun: isDryRun, ...counts, items } };
}
