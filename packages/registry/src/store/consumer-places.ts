import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './schema.ts';

/** Position at which a consumer of the log continues in a partition. */
export interface ConsumerPlace {
  offset: number;
  /** Identity of the log that the offset refers to; null where an earlier version saved it without. */
  identity: string | null;
}

/** Positions of a consumer by partition; partitions that were never saved are missing. */
export async function placesOf(db: Kysely<Tables>, consumer: string): Promise<Map<number, ConsumerPlace>> {
  const rows = await db
    .selectFrom('consumerOffsets')
    .select(['logPartition', 'nextOffset', 'logIdentity'])
    .where('consumer', '=', consumer)
    .execute();
  return new Map(rows.map((row) => [row.logPartition, { offset: row.nextOffset, identity: row.logIdentity }]));
}

/**
 * Records which log a consumer reads, and where it continues in the log.
 *
 * @param offset null: unchanged, or 0 where none was saved
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
