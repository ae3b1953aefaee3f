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

/** What a browser signs in by: the state that came with the challenge, and what the passkey made of it. */
export interface SignedPasskey {
  state: string;
  credential: PasskeyAnswer;
}

/** What a browser asks for a passkey with (`PublicKeyCredentialRequestOptionsJSON`). */
export interface PasskeyRequest {
  challenge: string;
  rpId: string;
  timeout: number;
  userVerification: 'required';
}

const PURPOSE = 'passkey-sign-in';

/**
 * Sign-in by passkeys. A challenge is signed with the keys of the tokens, and stored once it was answered: any instance
 * takes the answer, each once, and a flood of questions stores nothing.
 */
export class PasskeySignIn {
  readonly #registry: Pick<Registry, 'passkeys'>;
  readonly #tokens: Tokens;
  readonly #publicUrl: string | null;

  /** @param publicUrl where people reach the service; null: where they ask */
  constructor(registry: Pick<Registry, 'passkeys'>, tokens: Tokens, publicUrl: string | null) {
    this.#registry = registry;
    this.#tokens = tokens;
    this.#publicUrl = publicUrl;
  }

  /** Null: passkeys need a name of a host, and TLS. */
  site({ site }: Arrival): PasskeySite | null {
    return passkeySite(this.#publicUrl ?? site);
  }

  /** @throws {Problem} where there is no site */
  async begin(arrival: Arrival): Promise<{ state: string; publicKey: PasskeyRequest }> {
    const site = this.site(arrival);
    if (site === null) throw noPasskeysHere();
    const challenge = newChallenge();
    const state = await this.#tokens.issueState(PURPOSE, { challenge }, CHALLENGE_TTL_S);
    const { rpId } = site;
    return { state, publicKey: { challenge, rpId, timeout: CHALLENGE_TTL_S * 1000, userVerification: 'required' } };
  }

  /**
   * Whose passkey has signed a challenge of this service, which is used up by it? The account may be blocked.
   *
   * @returns or why it is not taken, for the audit trail
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
