import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Kysely } from 'kysely';
import { newMailAddressRow } from '../../accounts/mail-address-rows.ts';
import { tenantOfUser } from '../../work/fair-order.ts';
import { growingIds } from '../growing-ids.ts';
import { TIME_MS } from '../migrate.ts';
import type { Tables } from '../schema.ts';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('mail_addresses')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('address_key', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .addColumn('asked_at_ms', TIME_MS)
    .addColumn('next_attempt_at_ms', TIME_MS)
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('lease', 'text')
    .addColumn('changed_at_ms', TIME_MS, (c) => c.notNull())
    .addUniqueConstraint('mail_addresses_once', ['tenant_id', 'address_key'])
    .execute();
  await db.schema
    .createIndex('mail_addresses_by_next_attempt_at_ms')
    .on('mail_addresses')
    .columns(['next_attempt_at_ms', 'tenant_id'])
    .execute();
  await db.schema
    .createTable('mail_counts')
    .addColumn('counter', 'text', (c) => c.notNull())
    .addColumn('window_start_ms', TIME_MS, (c) => c.notNull())
    .addColumn('sent', 'integer', (c) => c.notNull())
    .addColumn('suppressed', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('mail_counts_key', ['counter', 'window_start_ms'])
    .execute();
  await db.schema.createIndex('mail_counts_by_window_start_ms').on('mail_counts').column('window_start_ms').execute();
  await confirmNamedAddresses(db);
}

/** Addresses that rules and schedules name already: mails to them go on. */
async function confirmNamedAddresses(db: Kysely<unknown>): Promise<void> {
  const tables = db as Kysely<Pick<Tables, 'notificationRules' | 'reportSchedules' | 'users' | 'mailAddresses'>>;
  const newId = growingIds();
  for (const table of ['notificationRules', 'reportSchedules'] as const)
    for (let after = ''; ; ) {
      const rows = await tables
        .selectFrom(table)
        .innerJoin('users', 'users.id', `${table}.ownerId`)
        .select([`${table}.id`, `${table}.terms`, tenantOfUser().as('tenant')])
        .where(`${table}.id`, '>', after)
        .orderBy(`${table}.id`)
        .limit(500)
        .execute();
      for (const { id, terms, tenant } of rows) {
        after = id;
        const { emails } = JSON.parse(terms) as { emails?: unknown };
        for (const address of Array.isArray(emails) ? emails : [])
          await tables
            .insertInto('mailAddresses')
            .values(newMailAddressRow(newId(), tenant ?? '', String(address), 'confirmed', SYSTEM_CLOCK.now()))
            .onConflict((conflict) => conflict.doNothing())
            .execute();
      }
      if (rows.length < 500) break;
    }
}
