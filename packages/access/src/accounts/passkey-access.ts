import {
  checkPasskeyRegistration,
  newChallenge,
  newRecoveryCodes,
  PasskeyError,
  type PasskeyRegistration,
  type PasskeySite,
  passkeySite,
  type Tokens,
  userHandleOf,
} from '@outrider/auth';
import type { PasskeyId, SessionId, User } from '@outrider/domain';
import {
  CHALLENGE_TTL_S,
  MAX_PASSKEYS_PER_USER,
  NotFoundError,
  type Passkey,
  type PasskeyRefusal,
  PasskeyRefusedError,
  type Registry,
} from '@outrider/registry';
import { badField, notFound, Problem } from '../problem.ts';
import { requirePerson } from '../rights.ts';
import { type OwnPasswordSources, requireOwnPassword } from './own-password.ts';
import { RECOVERY_CODES } from './second-factor-access.ts';

export interface PasskeySources extends OwnPasswordSources {
  registry: Pick<Registry, 'users' | 'audit' | 'passkeys'>;
  tokens: Pick<Tokens, 'issueState' | 'verifyState' | 'revokeUser'>;
  config: {
    /** Public URL of the service; null or absent: the site that the request was sent to. */
    publicUrl?: string | null;
  };
}

/** Options with which a browser creates a passkey (`PublicKeyCredentialCreationOptionsJSON`). */
export interface PasskeyOptions {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; name: string; displayName: string };
  pubKeyCredParams: { type: 'public-key'; alg: number }[];
  timeout: number;
  attestation: 'none';
  authenticatorSelection: { residentKey: 'required'; requireResidentKey: true; userVerification: 'required' };
  excludeCredentials: { type: 'public-key'; id: string }[];
}

const PURPOSE = 'passkey-registration';
/** Ed25519, ECDSA with P-256, RSA with SHA-256 (COSE). */
const ALGORITHMS = [-8, -7, -257];
const REFUSALS: Record<PasskeyRefusal, () => Problem> = {
  'challenge-used': () => expired(),
  known: () => new Problem('conflict', 'This passkey already belongs to an account.'),
  'too-many': () =>
    new Problem(
      'conflict',
      `An account may have at most ${MAX_PASSKEYS_PER_USER} passkeys. Remove one that is not used.`,
    ),
  copied: () => notFound(),
};

/** The passkeys of one caller. */
export class PasskeyAccess {
  readonly #caller: User;
  readonly #sources: PasskeySources;

  /** @throws {Problem} when the caller uses an API key */
  constructor(caller: User, sources: PasskeySources) {
    requirePerson(caller);
    this.#caller = caller;
    this.#sources = sources;
  }

  list(): Promise<Passkey[]> {
    return this.#sources.registry.passkeys.list(this.#caller.id);
  }

  /**
   * Options for creating a passkey, and a state to be passed to {@link add}.
   *
   * @param site that the request was sent to
   */
  async begin(
    currentPassword: string,
    sessionId: SessionId,
    site: string | null,
  ): Promise<{ state: string; publicKey: PasskeyOptions }> {
    const { rpId } = this.#site(site);
    await requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
    const { id, login, name } = this.#caller;
    const known = await this.#sources.registry.passkeys.list(id);
    if (known.length >= MAX_PASSKEYS_PER_USER) throw REFUSALS['too-many']();
    const challenge = newChallenge();
    const publicKey: PasskeyOptions = {
      challenge,
      rp: { id: rpId, name: 'Outrider' },
      user: { id: userHandleOf(id), name: login, displayName: name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_TTL_S * 1000,
      attestation: 'none',
      // A sign-in names no account, and counts as both factors.
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      excludeCredentials: known.map(({ credentialId }) => ({ type: 'public-key', id: credentialId })),
    };
    const state = await this.#sources.tokens.issueState(PURPOSE, { challenge, userId: id }, CHALLENGE_TTL_S);
    return { state, publicKey };
  }

  /** @returns the passkey, and recovery codes if it is the account's first second factor */
  async add(
    { state, name, credential }: { state: string; name: string; credential: PasskeyRegistration },
    site: string | null,
  ): Promise<{ passkey: Passkey; recoveryCodes: string[] | null }> {
    const { registry, tokens } = this.#sources;
    const begun = await tokens.verifyState(PURPOSE, state);
    const challenge = begun?.userId === this.#caller.id ? begun.challenge : undefined;
    if (challenge === undefined) throw expired();
    const made = await checkPasskeyRegistration(this.#site(site), challenge, credential).catch((error) => {
      throw error instanceof PasskeyError
        ? badField('/credential', `The passkey is not accepted: ${error.message}.`)
        : error;
    });
    const codes = newRecoveryCodes(RECOVERY_CODES);
    const added = await registry.passkeys.add(this.#caller, name, made, challenge, codes).catch((error) => {
      throw error instanceof PasskeyRefusedError ? REFUSALS[error.reason]() : error;
    });
    return { passkey: added.passkey, recoveryCodes: added.withCodes ? codes : null };
  }

  rename(id: PasskeyId, name: string): Promise<Passkey> {
    return this.#sources.registry.passkeys.rename(this.#caller, id, name).catch(missing);
  }

  /** Ends the other sessions of the account as well. */
  async remove(id: PasskeyId, currentPassword: string, sessionId: SessionId): Promise<void> {
    await requireOwnPassword(this.#caller, this.#sources, currentPassword, sessionId);
    await this.#sources.registry.passkeys.remove(this.#caller, id, sessionId).catch(missing);
    this.#sources.tokens.revokeUser(this.#caller.id);
  }

  #site(asked: string | null): PasskeySite {
    const site = passkeySite(this.#sources.config.publicUrl ?? asked);
    if (site === null) throw noPasskeysHere();
    return site;
  }
}

/** Problem when the service has no domain with TLS for passkeys. */
export function noPasskeysHere(): Problem {
  return new Problem('conflict', 'Passkeys need HTTPS and a host name, or localhost. See the setting PUBLIC_URL.');
}

function expired(): Problem {
  return badField('/state', 'It has expired, or was already used. Get new options and try again.');
}

function missing(error: unknown): never {
  throw error instanceof NotFoundError ? notFound() : error;
}
