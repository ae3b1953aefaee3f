import type { Tokens } from '@outrider/auth';
import type { Directory, SessionId, User, UserId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { readerOf } from '../notifications/reader.ts';
import { badField, notFound, Problem } from '../problem.ts';
import { maySeeSessions, requirePerson, rightToUser } from '../rights.ts';
import { type OwnPasswordSources, requireOwnPassword } from './own-password.ts';
import { requireStrongPassword } from './password-strength.ts';

export interface AccountMailSources extends OwnPasswordSources {
  registry: OwnPasswordSources['registry'] & Pick<Registry, 'accountLinks' | 'preferences'>;
  directory: Directory;
}

/** E-mail addresses of the accounts that one caller manages, including their own, and invitations. */
export class AccountMailAccess {
  readonly #caller: User;
  readonly #sources: AccountMailSources;

  /** @throws {Problem} when the caller uses an API key */
  constructor(caller: User, sources: AccountMailSources) {
    requirePerson(caller);
    this.#caller = caller;
    this.#sources = sources;
  }

  async email(id: UserId): Promise<string | null> {
    const user = this.#user(id);
    if (rightToUser(this.#caller, user) !== 'write' && !maySeeSessions(this.#caller, id)) throw mayNot();
    return this.#sources.registry.accountLinks.emailOf(id);
  }

  /**
   * @param current the caller's password, needed for their own account: the new address can be used to reset the
   *   password
   */
  async setEmail(id: UserId, email: string | null, current: string | undefined, sessionId: SessionId): Promise<void> {
    const user = this.#user(id);
    if (id === this.#caller.id) await requireOwnPassword(this.#caller, this.#sources, current, sessionId);
    else {
      if (rightToUser(this.#caller, user) !== 'write') throw mayNot();
      if (current !== undefined) throw badField('/currentPassword', 'It may be given only for your own account.');
    }
    await this.#sources.registry.accountLinks.setEmail(user, email);
  }

  /** Sends the account a link by which its user chooses a password. */
  async invite(id: UserId): Promise<void> {
    const user = this.#user(id);
    if (rightToUser(this.#caller, user) !== 'write' || id === this.#caller.id) throw mayNot();
    const { registry } = this.#sources;
    const { language } = await readerOf(registry, this.#caller.id, 'Etc/UTC');
    if (!(await registry.accountLinks.request(user, 'invitation', language)))
      throw new Problem('conflict', 'The account has no e-mail address.');
  }

  #user(id: UserId): User {
    const user = this.#sources.directory.users.get(id);
    if (user === undefined || rightToUser(this.#caller, user) === 'none') throw notFound();
    return user;
  }
}

function mayNot(): Problem {
  return new Problem('forbidden', 'Only the account itself and those who manage it may access its e-mail address.');
}

export interface PasswordResetSources {
  registry: Pick<Registry, 'accountLinks' | 'preferences' | 'users'>;
  directory: Directory;
  tokens: Pick<Tokens, 'revokeUser'>;
}

/**
 * Sends reset links to the accounts with this login or e-mail address. The requester does not learn whether any exist.
 */
export async function requestPasswordReset(
  { registry, directory }: PasswordResetSources,
  account: string,
  language: string,
): Promise<void> {
  for (const id of await registry.accountLinks.accountsOf(account)) {
    const user = directory.users.get(id);
    if (user === undefined || user.blocked) continue;
    const known = (await registry.preferences.get(id)) !== null;
    const reader = known ? (await readerOf(registry, id, 'Etc/UTC')).language : language;
    await registry.accountLinks.request(user, 'reset', reader);
  }
}

/** @throws {Problem} at `/token` or `/password` */
export async function setPasswordByLink(
  { registry, directory, tokens }: PasswordResetSources,
  token: string,
  password: string,
): Promise<void> {
  const found = await registry.accountLinks.accountOf(token);
  const user = found && directory.users.get(found.user.id);
  if (!user || user.blocked) throw badLink();
  requireStrongPassword(password, [user.login, user.name]);
  if ((await registry.accountLinks.setPassword(token, password)) === null) throw badLink();
  tokens.revokeUser(user.id);
}

function badLink(): Problem {
  return badField('/token', 'The link does not exist: it was already used, or has expired.');
}
