import type { Role, UserId } from '@outrider/domain';
import { UnknownReferenceError } from '../store/errors.ts';
import type { Reader } from '../store/store.ts';

/**
 * @returns the account
 * @throws {UnknownReferenceError} when there is no such account
 */
export async function requireOwner(
  db: Reader,
  ownerId: UserId,
): Promise<{ id: UserId; role: Role; dealerId: UserId | null }> {
  const owner = await db.selectFrom('users').select(['role', 'dealerId']).where('id', '=', ownerId).executeTakeFirst();
  if (!owner) throw new UnknownReferenceError('ownerId', ownerId);
  return { id: ownerId, role: owner.role as Role, dealerId: owner.dealerId as UserId | null };
}

/** Accounts of a dealer's organisation, the dealer included; for null, those of the operator's own. */
export function membersOfOrganisation(db: Reader, dealerId: UserId | null) {
  const accounts = db.selectFrom('users').select('users.id');
  return dealerId === null
    ? accounts.where('users.role', '!=', 'dealer').where('users.dealerId', 'is', null)
    : accounts.where((e) => e.or([e('users.id', '=', dealerId), e('users.dealerId', '=', dealerId)]));
}
