import type { UserId } from '@outrider/domain';
import { UnknownReferenceError } from './errors.ts';
import type { Reader } from './store.ts';

/** @throws {UnknownReferenceError} when there is no such account */
export async function requireOwner(db: Reader, ownerId: UserId): Promise<void> {
  const owner = await db.selectFrom('users').select('id').where('id', '=', ownerId).executeTakeFirst();
  if (!owner) throw new UnknownReferenceError('ownerId', ownerId);
}
