import { hash } from 'node:crypto';
import type { User, UserId } from '@outrider/domain';
import { type AuditAction, type AuditedFields, dealersOfUser } from '../audit/audit-notes.ts';
import type { Reader, Writer } from '../store/store.ts';
import { ACCOUNT_NOTICES, type AccountNotice, noteNotice } from './account-notice-rows.ts';

/** Replaces the codes that are used when a second factor, of any kind, is lost. Only hashes are stored. */
export async function replaceRecoveryCodes({ tx }: Writer, userId: UserId, codes: readonly string[]): Promise<void> {
  await deleteRecoveryCodesOf(tx, userId);
  const rows = codes.map((code) => ({ userId, codeHash: recoveryCodeHash(code) }));
  if (rows.length > 0) await tx.insertInto('recoveryCodes').values(rows).execute();
}

export async function deleteRecoveryCodesOf(db: Reader, userId: UserId): Promise<void> {
  await db.deleteFrom('recoveryCodes').where('userId', '=', userId).execute();
}

/** Hash of a code as a person typed it: case, spaces and hyphens do not matter. */
export function recoveryCodeHash(code: string): string {
  return hash('sha256', code.toLowerCase().replaceAll(/[\s-]/g, ''));
}

/** Records a change of how an account signs in. For {@link ACCOUNT_NOTICES}, queues an e-mail to its user. */
export async function noteOfSignIn(
  writer: Writer,
  action: AuditAction,
  user: User,
  { before = null, after = null }: { before?: AuditedFields | null; after?: AuditedFields | null } = {},
): Promise<void> {
  writer.note({
    action,
    subject: { kind: 'user', id: user.id, name: user.login },
    before,
    after,
    dealerIds: dealersOfUser(user),
  });
  const notice = ACCOUNT_NOTICES.find((each) => each === (action as AccountNotice));
  const named = (after ?? before)?.name ?? (after ?? before)?.issuer;
  if (notice !== undefined) await noteNotice(writer, user, notice, typeof named === 'string' ? named : null);
}
