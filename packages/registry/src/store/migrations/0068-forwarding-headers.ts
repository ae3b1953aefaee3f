import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const table = 'forwarding_destinations';
  // JSON, sealed; null: none.
  await db.schema.alterTable(table).addColumn('secret_headers', 'text').execute();
  // JSON, for those who may not read the values.
  await db.schema.alterTable(table).addColumn('secret_header_names', 'text').execute();
}
