import { setImmediate as nextTurn } from 'node:timers/promises';
import { acceptedFormat, ndjson } from '@outrider/reports';
import { z } from 'zod';
import { exampleOf, listOf } from '../fields/fields.ts';
import type { Answer, AuthorizedContext, Reply } from '../route.ts';

/** Description of a list's form without pages. */
export const WHOLE_LIST = `With \`Accept: ${ndjson.mediaType}\`, the answer is the whole list from \`cursor\` on, with one item per line; \`limit\` is ignored. The list is complete only if the HTTP response ends properly.`;

interface Asked {
  limit: number;
  cursor?: string | undefined;
}

/** Description of the response with a page of a list. */
export const PAGE = 'A page of the list. Pass its `nextCursor` as `cursor` to get the next page.';

/** Documented response of a list that is only available in pages. */
export function pageOf(item: z.ZodType): Answer {
  return { description: PAGE, body: listOf(item) };
}

/** Documented response of a list that is also available as a whole. */
export function pageOrWhole(page: Answer, item: z.ZodType): Answer {
  const text = JSON.stringify(exampleOf(item));
  return { ...page, otherTypes: { [ndjson.mediaType]: z.string().meta({ examples: [`${text}\n`] }) } };
}

/**
 * A page of a list, or the whole list with one item per line, depending on what the caller accepts.
 *
 * @param atOnce items read together; between these batches the event loop is yielded
 */
export async function answerList<Query extends Asked>(
  query: Query,
  { header }: Pick<AuthorizedContext, 'header'>,
  page: (query: Query) => Promise<Reply>,
  atOnce: number,
): Promise<Reply> {
  const isWhole = acceptedFormat(header('accept'), [ndjson]);
  if (!isWhole) return page(query);
  return { status: 200, headers: { 'content-type': ndjson.mediaType }, stream: wholeList(query, page, atOnce) };
}

async function* wholeList<Query extends Asked>(
  query: Query,
  page: (query: Query) => Promise<Reply>,
  atOnce: number,
): AsyncGenerator<string> {
  let { cursor } = query;
  do {
    const { body } = await page({ ...query, limit: atOnce, cursor });
    const { items, nextCursor } = body as { items: unknown[]; nextCursor: string | null };
    yield items.map((item) => `${JSON.stringify(item)}\n`).join('');
    cursor = nextCursor ?? undefined;
    await nextTurn();
  } while (cursor !== undefined);
}
