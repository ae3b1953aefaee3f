import { HIDDEN_CREDENTIALS } from '@outrider/domain';
import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';
import { SEALED, SEALED_BY_CHARACTERS, type SecretPlace, type Secrets, SecretsKeyError } from './secrets.ts';
import type { Reader, Store } from './store.ts';

/**
 * Set by the migration where accounts existed already: such an installation may go on without a key, with a warning.
 */
export const CLEAR_SECRETS = 'clear-secrets';
const AT_ONCE = 200;

/** What opening a registry found. */
export interface SecretsState {
  /** Were in clear, and were sealed now. */
  sealed: number;
  /** Secrets are stored in clear, for want of a key. */
  inClear: boolean;
}

/**
 * Checks the keys against what is stored, and seals what is still in clear.
 *
 * @param forgetLost removes what no key opens: its webhooks are not sent and its streams not fetched until somebody
 *   sets them again
 * @throws {SecretsKeyError} when a stored secret needs another key, or secrets must not be stored without one
 */
export async function prepareSecrets(store: Store, forgetLost: boolean): Promise<SecretsState> {
  const { db, secrets } = store;
  if (forgetLost && secrets.hasKey) await rotateSecrets(store, true);
  for (const start of await startsOfStored(db))
    if (!secrets.canOpen(start))
      throw new SecretsKeyError(
        `secrets in the registry are sealed with the key ${start.split(':')[2] || '?'}, which is not among the keys at hand`,
      );
  if (!secrets.hasKey) {
    const mayBeInClear = await db
      .selectFrom('registryFacts')
      .select('name')
      .where('name', '=', CLEAR_SECRETS)
      .execute();
    if (mayBeInClear.length === 0)
      throw new SecretsKeyError('secrets are not stored in clear: a key is needed to seal them');
    return { sealed: 0, inClear: true };
  }
  const sealed = await resealAll(store, SEALED);
  await db.deleteFrom('registryFacts').where('name', '=', CLEAR_SECRETS).execute();
  return { sealed, inClear: false };
}

/**
 * Seals everything with the first key that another one sealed.
 *
 * @returns how many secrets were sealed anew
 */
export function rotateSecrets(store: Store, forgetLost = false): Promise<number> {
  const { sealedBy } = store.secrets;
  if (sealedBy === null) throw new SecretsKeyError('there is no key to seal secrets with');
  return resealAll(store, sealedBy, forgetLost);
}

/** Parts of sealed values that name their keys, each once. Answers are left out: they last for a day. */
async function startsOfStored(db: Reader): Promise<string[]> {
  const { rows } = await sql<{ start: string | null }>`
    select distinct substr(webhook_secret, 1, ${sql.lit(SEALED_BY_CHARACTERS)}) as start
    from notification_rules where webhook_secret like 'sealed:%'
    union select distinct substr(address, 1, ${sql.lit(SEALED_BY_CHARACTERS)}) from video_profiles where address like 'sealed:%'`.execute(
    db,
  );
  return rows.flatMap(({ start }) => (start === null ? [] : [start]));
}

/**
 * Seals every secret that does not begin with `prefix`. In small transactions: one that is killed in between is done
 * again, and finds less to do.
 */
async function resealAll(store: Store, prefix: string, forgetLost = false): Promise<number> {
  let count = 0;
  for (const table of ['notification_rules', 'video_profiles'] as const)
    for (;;) {
      const sealed = await store.write(async ({ tx }) => {
        const rows = await (table === 'notification_rules' ? dueRules(tx, prefix) : dueProfiles(tx, prefix));
        for (const { id, value } of rows) {
          if (value === null) continue;
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
    return place.table === 'video_profiles' ? secrets.seal(HIDDEN_CREDENTIALS, place) : null;
  }
}

function dueRules(tx: Kysely<Tables>, prefix: string) {
  return tx
    .selectFrom('notificationRules')
    .select(['id', 'webhookSecret as value'])
    .where('webhookSecret', 'not like', `${prefix}%`)
    .limit(AT_ONCE)
    .execute();
}

function dueProfiles(tx: Kysely<Tables>, prefix: string) {
  return tx
    .selectFrom('videoProfiles')
    .select(['id', 'address as value'])
    .where('protocol', '=', 'stream')
    .where('address', 'not like', `${prefix}%`)
    .limit(AT_ONCE)
    .execute();
}

async function setStored(tx: Kysely<Tables>, { table, id }: SecretPlace, value: string | null): Promise<void> {
  if (table === 'notification_rules')
    await tx.updateTable('notificationRules').set({ webhookSecret: value }).where('id', '=', id).execute();
  else if (table === 'video_profiles' && value !== null)
    await tx.updateTable('videoProfiles').set({ address: value }).where('id', '=', id).execute();
}
