import { noPasskeysHere } from '@outrider/access';
import {
  type Arrival,
  checkPasskeyAnswer,
  newChallenge,
  type PasskeyAnswer,
  PasskeyError,
  type PasskeySite,
  passkeySite,
  type Tokens,
} from '@outrider/auth';
import type { UserId } from '@outrider/domain';
import { CHALLENGE_TTL_S, PasskeyRefusedError, type Registry } from '@outrider/registry';

/** Sign-in request of a browser: the state that was sent with the challenge, and the passkey's response. */
export interface SignedPasskey {
  state: string;
  credential: PasskeyAnswer;
}

/** Options with which a browser requests a passkey (`PublicKeyCredentialRequestOptionsJSON`). */
export interface PasskeyRequest {
  challenge: string;
  rpId: string;
  timeout: number;
  userVerification: 'required';
}

const PURPOSE = 'passkey-sign-in';

/**
 * Sign-in by passkeys. A challenge is signed with the token keys, and stored only once it is answered. Any instance can
 * check a response, each response is accepted once, and a flood of challenges stores nothing.
 */
export class PasskeySignIn {
  readonly #registry: Pick<Registry, 'passkeys'>;
  readonly #tokens: Tokens;
  readonly #publicUrl: string | null;

  /** @param publicUrl public URL of the service; null: the site that the request was sent to */
  constructor(registry: Pick<Registry, 'passkeys'>, tokens: Tokens, publicUrl: string | null) {
    this.#registry = registry;
    this.#tokens = tokens;
    this.#publicUrl = publicUrl;
  }

  /** Null if passkeys are unavailable: they need a host name and TLS. */
  site({ site }: Arrival): PasskeySite | null {
    return passkeySite(this.#publicUrl ?? site);
  }

  /** @throws {Problem} when passkeys are unavailable at this site */
  async begin(arrival: Arrival): Promise<{ state: string; publicKey: PasskeyRequest }> {
    const site = this.site(arrival);
    if (site === null) throw noPasskeysHere();
    const challenge = newChallenge();
    const state = await this.#tokens.issueState(PURPOSE, { challenge }, CHALLENGE_TTL_S);
    const { rpId } = site;
    return { state, publicKey: { challenge, rpId, timeout: CHALLENGE_TTL_S * 1000, userVerification: 'required' } };
  }

  /**
   * Checks a challenge signed by a passkey, and uses the challenge up. The account may be blocked.
   *
   * @returns the account of the passkey, or why it was refused, for the audit trail
   */
  async check(
    { state, credential }: SignedPasskey,
    arrival: Arrival,
  ): Promise<{ userId: UserId } | { refused: string }> {
    const site = this.site(arrival);
    const challenge = (await this.#tokens.verifyState(PURPOSE, state))?.challenge;
    if (site === null || challenge === undefined) return { refused: 'the challenge of a passkey has expired' };
    const known = await this.#registry.passkeys.find(credential.id);
    if (known === null) return { refused: 'unknown passkey' };
    try {
      const counter = await checkPasskeyAnswer(site, challenge, credential, known);
      await this.#registry.passkeys.use(known.id, counter, challenge);
    } catch (error) {
      if (error instanceof PasskeyError || error instanceof PasskeyRefusedError) return { refused: error.message };
      throw error;
    }
    return { userId: known.userId };
  }
}
