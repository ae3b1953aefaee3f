import type { User, UserId } from '@outrider/domain';
import type { Reader, Writer } from '../store/store.ts';

/** Changes of an account's sign-in that its user is notified of by e-mail. */
export const ACCOUNT_NOTICES = [
  'password-changed',
  'email-changed',
  'second-factor-enabled',
  'second-factor-removed',
  'recovery-code-used',
  'passkey-added',
  'passkey-removed',
  'sign-in-linked',
  'sign-in-unlinked',
] as const;
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number];

/** Maximum of waiting notices per account; further ones are dropped. The first ones are warning enough. */
const MAX_WAITING = 20;

/**
 * Queues an e-mail to the user of an account about a change.
 *
 * @param address undefined: the account's; nothing is sent where it has none
 */
export async function noteNotice(
  { tx, nowMs, newId }: Writer,
  { id: userId }: Pick<User, 'id'>,
  kind: AccountNotice,
  detail: string | null = null,
  address?: string,
): Promise<void> {
  const own = tx.selectFrom('accountEmails').select('address').where('userId', '=', userId);
  const to = address ?? (await own.executeTakeFirst())?.address;
  if (to === undefined) return;
  const count = tx.selectFrom('accountNotices').select((e) => e.fn.countAll().as('count'));
  const waiting = await count.where('userId', '=', userId).executeTakeFirstOrThrow();
  if (Number(waiting.count) >= MAX_WAITING) return;
  const sending = { createdAtMs: nowMs, nextAttemptAtMs: nowMs, attempts: 0, lease: null };
  await tx
    .insertInto('accountNotices')
    .values({ id: newId(), userId, kind, detail, address: to, ...sending })
    .execute();
}

export async function deleteAccountNoticesOf(db: Reader, userId: UserId): Promise<void> {
  await db.deleteFrom('accountNotices').where('userId', '=', userId).execute();
}
