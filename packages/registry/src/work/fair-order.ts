import { accountKey, type Owner, Turns, tenantKey } from '@outrider/domain';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../store/schema.ts';
import { inChunks, type Reader } from '../store/store.ts';

/** Turns are kept for this long; older ones no longer influence the order. */
const TURN_KEPT_MS = 7 * 86_400_000;

/** SQL for the tenant of a row of `users`; null where the join found none. */
export function tenantOfUser(table = 'users'): RawBuilder<string | null> {
  return sql<string | null>`coalesce(${sql.ref(`${table}.dealerId`)}, ${sql.ref(`${table}.id`)})`;
}

/** Owners by account id; deleted accounts are missing. */
export async function ownersOf(db: Reader, accounts: readonly string[]): Promise<Map<string, Owner>> {
  const owners = new Map<string, Owner>();
  for (const some of inChunks(accounts)) {
    const rows = await db
      .selectFrom('users')
      .select(['id', tenantOfUser().as('tenant')])
      .where('id', 'in', some)
      .execute();
    for (const { id, tenant } of rows) owners.set(id, { account: id, tenant: tenant ?? id });
  }
  return owners;
}

/**
 * The turns of a queue that all instances share, with what is in progress.
 *
 * @param queue name of the queue
 * @param waiting owners that have work in it
 * @param running owners of the work in progress, one for each piece of it
 */
export async function sharedTurns(
  db: Reader,
  queue: string,
  waiting: readonly Owner[],
  running: readonly Owner[],
): Promise<Turns> {
  const keys = [...new Set(waiting.flatMap((owner) => [tenantKey(owner), accountKey(owner)]))];
  const served = new Map<string, number>();
  for (const some of inChunks(keys)) {
    const rows = await db
      .selectFrom('queueTurns')
      .select(['owner', 'turn'])
      .where('queue', '=', queue)
      .where('owner', 'in', some)
      .execute();
    for (const { owner, turn } of rows) served.set(owner, turn);
  }
  const turns = new Turns(served);
  for (const owner of running) turns.begin(owner);
  return turns;
}

/** Saves that an owner was served, for all instances: see {@link Turns.served}. */
export async function saveTurn(tx: Transaction<Tables>, queue: string, owner: Owner, nowMs: number): Promise<void> {
  const { newest } = await tx
    .selectFrom('queueTurns')
    .select((e) => e.fn.max('turn').as('newest'))
    .where('queue', '=', queue)
    .executeTakeFirstOrThrow();
  const turn = Number(newest ?? 0) + 1;
  const rows = [tenantKey(owner), accountKey(owner)].map((key) => ({ queue, owner: key, turn, servedAtMs: nowMs }));
  await tx
    .insertInto('queueTurns')
    .values(rows)
    .onConflict((c) =>
      c.columns(['queue', 'owner']).doUpdateSet((e) => ({
        turn: e.ref('excluded.turn'),
        servedAtMs: e.ref('excluded.servedAtMs'),
      })),
    )
    .execute();
  await tx
    .deleteFrom('queueTurns')
    .where('queue', '=', queue)
    .where('servedAtMs', '<', nowMs - TURN_KEPT_MS)
    .execute();
}

/**
 * Serves owners in turn until `isEnough`, or until no owner has anything left.
 *
 * @param takeNext takes the next item of an owner; null: it has none left
 */
export async function inTurns<O extends Owner, T>(
  turns: Turns,
  waiting: Iterable<O>,
  isEnough: (taken: readonly T[]) => boolean,
  takeNext: (owner: O) => Promise<T | null> | T | null,
): Promise<T[]> {
  const left = new Set(waiting);
  const taken: T[] = [];
  while (!isEnough(taken)) {
    const owner = turns.next(left);
    if (owner === undefined) break;
    const item = await takeNext(owner);
    if (item === null) left.delete(owner);
    else taken.push(item);
  }
  return taken;
}
