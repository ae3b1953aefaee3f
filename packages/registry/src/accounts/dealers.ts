import type { UserId } from '@outrider/domain';
import { UnknownReferenceError } from '../store/errors.ts';
import type { Reader } from '../store/store.ts';

/** @throws {UnknownReferenceError} when `dealerId` is not null and not the id of a dealer */
export async function requireDealer(db: Reader, dealerId: UserId | null): Promise<void> {
  if (dealerId === null) return;
  const dealer = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', dealerId)
    .where('role', '=', 'dealer')
    .executeTakeFirst();
  if (!dealer) throw new UnknownReferenceError('dealerId', dealerId);
}
