import type { UserId } from '@outrider/domain';
import type { Reader, Store } from '../store/store.ts';

/** Settings of a user for that user alone: the look and contents of the console. The API defines what they hold. */
export class Preferences {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Null: the user never set any. */
  get(userId: UserId): Promise<object | null> {
    return load(this.#store.db, userId);
  }

  /** @param revise gives the new preferences from the present ones */
  change<T extends object>(userId: UserId, revise: (current: object | null) => T): Promise<T> {
    return this.#store.write(async ({ tx }) => {
      const next = revise(await load(tx, userId));
      const value = JSON.stringify(next);
      await tx
        .insertInto('preferences')
        .values({ userId, value })
        .onConflict((row) => row.column('userId').doUpdateSet({ value }))
        .execute();
      return next;
    });
  }
}

export async function deletePreferencesOf(tx: Reader, userId: UserId): Promise<void> {
  await tx.deleteFrom('preferences').where('userId', '=', userId).execute();
}

async function load(db: Reader, userId: UserId): Promise<object | null> {
  const row = await db.selectFrom('preferences').select('value').where('userId', '=', userId).executeTakeFirst();
  return row === undefined ? null : JSON.parse(row.value);
}
