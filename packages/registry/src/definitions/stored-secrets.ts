import { HIDDEN_CREDENTIALS } from '@outrider/domain';
import { type Kysely, sql } from 'kysely';
import { newLinkSecret } from '../accounts/mail-address-rows.ts';
import type { Tables } from '../store/schema.ts';
import { SEALED, SEALED_BY_CHARACTERS, type SecretPlace, type Secrets, SecretsKeyError } from '../store/secrets.ts';
import type { Reader, Store } from '../store/store.ts';

/**
 * Fact that the migration sets in installations that had accounts: these may go on without a key, with a warning.
 */
export const CLEAR_SECRETS = 'clear-secrets';
const AT_ONCE = 200;

type StoredPlace = Exclude<SecretPlace['table'], 'idempotency'>;

/** Where the secrets of one place are stored. */
interface SecretColumn {
  table: string;
  column: string;
  /** Column with the id of the row. Default: `id`. */
  id?: string;
  /** Only rows of this protocol hold a secret. */
  protocol?: string;
  /** Column that is meaningless without the secret, and is cleared when the secret is lost. */
  lostWithIt?: string;
}
/** Answers that are kept for an `Idempotency-Key` are left out: they last for a day. */
const COLUMNS: Record<StoredPlace, SecretColumn> = {
  notification_rules: { table: 'notification_rules', column: 'webhook_secret' },
  webhook_urls: { table: 'notification_rules', column: 'webhook_url' },
  video_profiles: { table: 'video_profiles', column: 'address', protocol: 'stream' },
  message_channels: { table: 'message_channels', column: 'secret' },
  service_keys: { table: 'service_keys', column: 'private_key' },
  forwarding_destinations: { table: 'forwarding_destinations', column: 'secret' },
  forwarding_headers: {
    table: 'forwarding_destinations',
    column: 'secret_headers',
    lostWithIt: 'secret_header_names',
  },
  second_factors: { table: 'second_factors', column: 'secret', id: 'user_id' },
  mail_addresses: { table: 'mail_addresses', column: 'secret' },
};
const PLACES = Object.keys(COLUMNS) as StoredPlace[];

/** What was found when the registry was opened. */
export interface SecretsState {
  /** Number of secrets that were in clear, and were sealed now. */
  sealed: number;
  /** Whether secrets are stored in clear, for want of a key. */
  inClear: boolean;
}

/**
 * Checks the keys against what is stored, and seals what is still in clear.
 *
 * @param forgetLost removes secrets that no key opens: their webhooks are not sent and their streams not fetched until
 *   somebody sets them again
 * @throws {SecretsKeyError} when a stored secret needs another key, or secrets must not be stored without one
 */
export async function prepareSecrets(store: Store, forgetLost: boolean): Promise<SecretsState> {
  const { db, secrets } = store;
  if (forgetLost && secrets.hasKey) await rotateSecrets(store, true);
  for (const start of await startsOfStored(db))
    if (!secrets.canOpen(start))
      throw new SecretsKeyError(
        `secrets in the registry are encrypted with the key ${start.split(':')[2] || '?'}, which is not configured`,
      );
  if (!secrets.hasKey) {
    const mayBeInClear = await db
      .selectFrom('registryFacts')
      .select('name')
      .where('name', '=', CLEAR_SECRETS)
      .execute();
    if (mayBeInClear.length === 0)
      throw new SecretsKeyError('secrets in the registry must be encrypted, which needs a key');
    return { sealed: 0, inClear: true };
  }
  const sealed = await resealAll(store, SEALED);
  await db.deleteFrom('registryFacts').where('name', '=', CLEAR_SECRETS).execute();
  return { sealed, inClear: false };
}

/**
 * Reseals with the first key everything that another key sealed.
 *
 * @returns how many secrets were resealed
 */
export function rotateSecrets(store: Store, forgetLost = false): Promise<number> {
  const { sealedBy } = store.secrets;
  if (sealedBy === null) throw new SecretsKeyError('there is no key to encrypt secrets with');
  return resealAll(store, sealedBy, forgetLost);
}

/** Distinct beginnings of sealed values, which name their keys. */
async function startsOfStored(db: Reader): Promise<string[]> {
  const ofEach = Object.values(COLUMNS).map(
    ({ table, column }) => sql`
      select distinct substr(${sql.ref(column)}, 1, ${sql.lit(SEALED_BY_CHARACTERS)}) as start
      from ${sql.table(table)} where ${sql.ref(column)} like 'sealed:%'`,
  );
  const { rows } = await sql<{ start: string }>`${sql.join(ofEach, sql` union `)}`.execute(db);
  return rows.map(({ start }) => start);
}

/**
 * Seals every secret that does not begin with `prefix`. Works in small transactions: an interrupted run can be
 * repeated, and finds less to do.
 */
async function resealAll(store: Store, prefix: string, forgetLost = false): Promise<number> {
  let count = 0;
  for (const table of PLACES)
    for (;;) {
      const sealed = await store.write(async ({ tx }) => {
        const rows = await dueAt(tx, table, prefix);
        for (const { id, value } of rows) {
          const place = { table, id };
          await setStored(tx, place, reseal(store.secrets, value, place, forgetLost));
        }
        return rows.length;
      });
      count += sealed;
      if (sealed < AT_ONCE) break;
    }
  return count;
}

function reseal(secrets: Secrets, value: string, place: SecretPlace, forgetLost: boolean): string | null {
  try {
    return secrets.seal(secrets.open(value, place), place);
  } catch (error) {
    if (!forgetLost || !(error instanceof SecretsKeyError)) throw error;
    if (place.table === 'video_profiles') return secrets.seal(HIDDEN_CREDENTIALS, place);
    // Invalidates the links in mails that were sent before.
    return place.table === 'mail_addresses' ? secrets.seal(newLinkSecret(), place) : null;
  }
}

/** Next batch of the secrets that do not begin with `prefix`. */
async function dueAt(tx: Kysely<Tables>, place: StoredPlace, prefix: string): Promise<{ id: string; value: string }[]> {
  const { table, column, id = 'id', protocol } = COLUMNS[place];
  const { rows } = await sql<{ id: string; value: string }>`
    select ${sql.ref(id)} as id, ${sql.ref(column)} as value from ${sql.table(table)}
    where ${sql.ref(column)} not like ${`${prefix}%`} ${protocol === undefined ? sql`` : sql`and protocol = ${protocol}`}
    limit ${AT_ONCE}`.execute(tx);
  return rows;
}

async function setStored(
  tx: Kysely<Tables>,
  place: { table: StoredPlace; id: string },
  value: string | null,
): Promise<void> {
  const { table, column, id = 'id', lostWithIt } = COLUMNS[place.table];
  const alsoLost = value === null && lostWithIt !== undefined ? sql`, ${sql.ref(lostWithIt)} = null` : sql``;
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${value} ${alsoLost}
    where ${sql.ref(id)} = ${place.id}`.execute(tx);
}
