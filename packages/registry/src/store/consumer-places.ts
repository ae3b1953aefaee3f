import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './schema.ts';

/** Where a consumer of the log goes on in a partition. */
export interface ConsumerPlace {
  offset: number;
  /** Identity of the log that the offset is of; null where it was saved by a version that knew none. */
  identity: string | null;
}

/** The places of a consumer by partition; those that were never saved are missing. */
export async function placesOf(db: Kysely<Tables>, consumer: string): Promise<Map<number, ConsumerPlace>> {
  const rows = await db
    .selectFrom('consumerOffsets')
    .select(['logPartition', 'nextOffset', 'logIdentity'])
    .where('consumer', '=', consumer)
    .execute();
  return new Map(rows.map((row) => [row.logPartition, { offset: row.nextOffset, identity: row.logIdentity }]));
}

/**
 * Notes which log a consumer reads, and where it goes on in it.
 *
 * @param offset null: where it is, or at 0 where it was nowhere
 */
export async function setPlace(
  db: Kysely<Tables> | Transaction<Tables>,
  consumer: string,
  partition: number,
  identity: string,
  offset: number | null,
): Promise<void> {
  await db
    .insertInto('consumerOffsets')
    .values({ consumer, logPartition: partition, nextOffset: offset ?? 0, logIdentity: identity })
    .onConflict((c) =>
      c
        .columns(['consumer', 'logPartition'])
        .doUpdateSet({ logIdentity: identity, ...(offset === null ? {} : { nextOffset: offset }) }),
    )
    .execute();
}
