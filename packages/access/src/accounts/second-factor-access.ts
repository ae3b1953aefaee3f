import { newRecoveryCodes, newTotpSecret, type Tokens, totpStep, totpUri } from '@outrider/auth';
import type { Directory, SessionId, User, UserId } from '@outrider/domain';
import { NotFoundError, type Registry, type SecondFactor } from '@outrider/registry';
import { badField, notFound, Problem } from '../problem.ts';
import { isOperator, maySeeSessions, requirePerson, rightToUser } from '../rights.ts';
import { type OwnPasswordSources, requireOwnPassword } from './own-password.ts';

export interface SecondFactorSources extends OwnPasswordSources {
  registry: Pick<Registry, 'users' | 'audit' | 'secondFactors'>;
  directory: Directory;
  tokens: Pick<Tokens, 'revokeUser'>;
}

export const RECOVERY_CODES = 10;

/** The caller's own second factor. Operators can also check whether others have one, and remove it. */
export class SecondFactorAccess {
  readonly #caller: User;
  readonly #sources: SecondFactorSources;

  /** @throws {Problem} when the caller uses an API key */
  constructor(caller: User, sources: SecondFactorSources) {
    requirePerson(caller);
    this.#caller = caller;
    this.#sources = sources;
  }

  /** Null: the account has no second factor. */
  async get(id: UserId): Promise<SecondFactor | null> {
    this.#user(id);
    if (!maySeeSessions(this.#caller, id))
      throw new Problem('forbidden', 'Only the account itself and operators may see its second factors.');
    return this.#sources.registry.secondFactors.get(id);
  }

  /** Proposes a secret to the caller, which takes effect with {@link confirm}. */
  async begin(currentPassword: string, sessionId: SessionId): Promise<{ secret: string; uri: string }> {
    await requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
    const secret = newTotpSecret();
    if (!(await this.#sources.registry.secondFactors.propose(this.#caller.id, secret)))
      throw new Problem('conflict', 'The account already has an authenticator app. Remove it first.');
    return { secret, uri: totpUri(secret, this.#caller.login) };
  }

  /**
   * Puts the proposed secret in force, for a code that shows that an app has it.
   *
   * @returns recovery codes, which can't be read again
   */
  async confirm(totp: string, nowMs: number): Promise<string[]> {
    const { secondFactors } = this.#sources.registry;
    const secret = await secondFactors.proposed(this.#caller.id);
    if (secret === null) throw notFound();
    const step = totpStep(secret, totp, nowMs);
    if (step === null)
      throw badField('/totp', 'It is not the current code of this secret. Check the clock of the device.');
    const codes = newRecoveryCodes(RECOVERY_CODES);
    await secondFactors.confirm(this.#caller, secret, step, codes).catch(hasNone);
    return codes;
  }

  /** @returns new recovery codes, which replace all earlier ones */
  async renewRecoveryCodes(currentPassword: string, sessionId: SessionId): Promise<string[]> {
    await requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
    const codes = newRecoveryCodes(RECOVERY_CODES);
    await this.#sources.registry.secondFactors.renewRecoveryCodes(this.#caller, codes).catch(hasNone);
    return codes;
  }

  async disable(currentPassword: string, sessionId: SessionId): Promise<void> {
    await requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
    await this.#sources.registry.secondFactors.remove(this.#caller).catch(hasNone);
  }

  /** Removes all second factors of another account, including passkeys, if its user has lost the device. */
  async remove(id: UserId): Promise<void> {
    const user = this.#user(id);
    if (!isOperator(this.#caller))
      throw new Problem('forbidden', 'Only operators can remove the second factor of another account.');
    if (id === this.#caller.id)
      throw new Problem(
        'conflict',
        'Remove your own second factors with the calls below `/api/v1/me`, which need the current password.',
      );
    await this.#sources.registry.secondFactors.removeAll(user).catch(hasNone);
    this.#sources.tokens.revokeUser(id);
  }

  #user(id: UserId): User {
    const user = this.#sources.directory.users.get(id);
    if (user === undefined || rightToUser(this.#caller, user) === 'none') throw notFound();
    return user;
  }
}

function hasNone(error: unknown): never {
  throw error instanceof NotFoundError ? notFound() : error;
}
