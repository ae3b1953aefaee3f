import { randomBytes } from 'node:crypto';
import { weaknessOf } from '@outrider/access';
import { ConflictError, type Registry } from '@outrider/registry';
import { type Logger, StartError } from '@outrider/runtime';
import { publishedKinds, type ReconciliationParts } from './upkeep/definitions-reconciliation.ts';

/** Login of the operator account that every service starts with. */
export const ADMIN_LOGIN = 'admin';

/**
 * Refuses to start with an empty registry if topic `definitions` has records: the registry has then been replaced or
 * lost.
 *
 * @param name of the file or the database, for people
 * @throws {StartError} which says what to do
 */
export async function refuseLostRegistry(
  registry: Registry,
  log: ReconciliationParts['log'],
  name: string,
): Promise<void> {
  if (!(await registry.isBlank())) return;
  const kinds = Object.entries(await publishedKinds(log));
  // Checked again: another instance may have had its first start meanwhile.
  if (kinds.length === 0 || !(await registry.isBlank())) return;
  const counts = kinds.map(([kind, count]) => `${kind}: ${count}`).join(', ');
  throw new StartError(
    `the registry ${name} is empty, and topic definitions of the log has definitions (${counts}): the registry was ` +
      'lost, or is another one. Restore a backup of it, or bring back what the topic has: outrider registry rebuild. ' +
      'To begin with an empty registry, and delete these definitions: outrider definitions republish',
  );
}

/**
 * Creates the operator `admin` if no account has that login yet.
 *
 * @param password used at the first start only; later, a password other than the account's is logged as ignored
 * @throws {StartError} when the given password is easily guessed
 * @returns the generated password, to be logged once; null if one was given, or the operator exists
 */
export async function ensureAdmin(registry: Registry, password: string | null, logger: Logger): Promise<string | null> {
  if (await registry.users.byLogin(ADMIN_LOGIN)) {
    if (password !== null && (await registry.users.authenticate(ADMIN_LOGIN, password)) === null)
      logger.warn(
        { login: ADMIN_LOGIN, command: `outrider users set-password ${ADMIN_LOGIN}` },
        'ADMIN_PASSWORD is ignored: the account exists and has another password; a command sets it',
      );
    return null;
  }
  if (password !== null && weaknessOf(password, [ADMIN_LOGIN]) !== null)
    throw new StartError(
      'ADMIN_PASSWORD is among the passwords that attackers try first: choose another, or leave it unset',
    );
  // 96 bits, in characters that a person can read out.
  const chosen = password ?? randomBytes(12).toString('base64url');
  const created = registry.users.create(
    {
      login: ADMIN_LOGIN,
      name: 'Operator',
      role: 'operator',
      dealerId: null,
      blocked: false,
      apiAccess: true,
      groupIds: [],
    },
    chosen,
  );
  try {
    await created;
  } catch (error) {
    // Another instance that starts at the same time created the operator first: its password is valid.
    if (error instanceof ConflictError) return null;
    throw error;
  }
  return password === null ? chosen : null;
}
