import { etagOf } from './input.ts';
import type { Reply } from './route.ts';

/** Headers of an answer by {@link entityReply}, as they are described. */
export const ENTITY_HEADERS = { ETag: 'Version, for `If-Match`.' };

/**
 * Headers of one thing of a collection: its version, and where it is if it was added (201).
 *
 * @param collection path that its id stands behind
 */
export function entityHeaders(
  status: number,
  collection: string,
  { id, version }: { id: string; version: number },
): Record<string, string> {
  return { etag: etagOf(version), ...(status === 201 ? { location: `${collection}/${id}` } : {}) };
}

/** Makes answers that are one thing of a {@link entityHeaders collection}. */
export function entityReply<Entity extends { id: string; version: number }, More extends unknown[]>(
  collection: string,
  bodyOf: (entity: Entity, ...more: More) => unknown,
): (status: number, entity: Entity, ...more: More) => Reply {
  return (status, entity, ...more) => ({
    status,
    body: bodyOf(entity, ...more),
    headers: entityHeaders(status, collection, entity),
  });
}
