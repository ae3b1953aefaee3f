import type { User } from '@outrider/domain';
import type { Store } from '../store/store.ts';
import { type Lease, Leases } from '../work/leases.ts';
import type { AccountNotice } from './account-notice-rows.ts';
import { USERS } from './user-rows.ts';

/** An e-mail about such a change, leased by the caller for sending. */
export interface LeasedAccountNotice extends Lease {
  kind: AccountNotice;
  user: User;
  /** Name of what was added or removed; null: it has no name. */
  detail: string | null;
  address: string;
  /** When it was changed, in Unix milliseconds. */
  createdAtMs: number;
  attempts: number;
}

/** E-mails about changes of how accounts sign in. Each is noted in the transaction of its change, and sent once. */
export class AccountNotices {
  readonly #store: Store;
  readonly #leases: Leases<'accountNotices'>;

  constructor(store: Store) {
    this.#store = store;
    const dueAt = 'nextAttemptAtMs';
    this.#leases = new Leases(store, { table: 'accountNotices', dueAt, leasedUntil: dueAt });
  }

  /** Leases due notices, the oldest first. */
  lease(limit: number, leaseMs: number): Promise<LeasedAccountNotice[]> {
    return this.#store.due(
      'account notices',
      [],
      async () => {
        const { db } = this.#store;
        const due = db.selectFrom('accountNotices').select('id').where(this.#leases.isDue(this.#store.now()));
        const rows = await due.orderBy('nextAttemptAtMs').orderBy('id').limit(limit).execute();
        const ids = rows.map(({ id }) => id);
        const taken = await this.#leases.take(db, ids, leaseMs);
        const users = await USERS.load(db, [...new Set(taken.map(({ userId }) => userId))]);
        const byId = new Map<string, User>(users.map((user) => [user.id, user]));
        return taken.flatMap(({ id, lease, userId, kind, detail, address, createdAtMs, attempts }) => {
          const user = byId.get(userId);
          const shown = { id, lease, kind: kind as AccountNotice, detail, address, attempts };
          return user === undefined ? [] : [{ ...shown, user, createdAtMs: Number(createdAtMs) }];
        });
      },
      () => this.#leases.nextDueMs(),
    );
  }

  renew(leased: readonly Lease[], leaseMs: number): Promise<unknown> {
    return this.#leases.renew(leased, leaseMs);
  }

  /** Schedules another attempt. @returns false where the lease was lost */
  retry(leased: Lease, atMs: number): Promise<boolean> {
    return this.#leases.settle(this.#store.db, leased, { nextAttemptAtMs: atMs });
  }

  /** Removes a notice that was sent or given up. @returns false where the lease was lost: nothing was removed */
  async remove({ id, lease }: Lease): Promise<boolean> {
    const query = this.#store.db.deleteFrom('accountNotices').where('id', '=', id).where('lease', '=', lease);
    return (await query.returning('id').executeTakeFirst()) !== undefined;
  }
}
