import type * as oidc from 'openid-client';

/** How this service is known to an OpenID Connect provider. */
export interface OpenIdConfig {
  /** URL of the provider, as its ID tokens name it. Plain HTTP only on this machine. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Where the provider sends browsers back to. */
  redirectUri: string;
  /** Separated by spaces; `openid` among them. */
  scopes: string;
}

/** What a browser keeps between the start of a sign-in and its end. */
export interface OpenIdState {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who signed in, by an ID token that was checked. */
export interface OpenIdIdentity {
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
}

/** The provider refused, or what it sent is not good. */
export class OpenIdError extends Error {
  override name = 'OpenIdError';
}

const TIMEOUT_S = 10;

/** Loaded by the first sign-in: most services have no provider. */
const client = (): Promise<typeof oidc> => import('openid-client');

/**
 * Sign-in by an OpenID Connect provider: code flow with PKCE, state and nonce. The provider's metadata is read with the
 * first sign-in.
 */
export class OpenIdProvider {
  readonly #config: OpenIdConfig;
  #discovered: Promise<oidc.Configuration> | null = null;

  constructor(config: OpenIdConfig) {
    this.#config = config;
  }

  /** Where the browser goes, and what it has to keep until it comes back. @throws {OpenIdError} */
  async start(): Promise<{ url: string; kept: OpenIdState }> {
    const configuration = await this.#configuration();
    const oidc = await client();
    const kept = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#config.redirectUri,
      scope: this.#config.scopes,
      state: kept.state,
      nonce: kept.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(kept.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, kept };
  }

  /**
   * @param query of the URL that the browser came back to
   * @throws {OpenIdError} for a wrong state, nonce, issuer, audience or signature, an expired token, a refused code,
   *   and where the provider is unavailable
   */
  async finish(query: string, { state, nonce, verifier }: OpenIdState): Promise<OpenIdIdentity> {
    const configuration = await this.#configuration();
    const oidc = await client();
    const url = new URL(this.#config.redirectUri);
    url.search = query;
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new OpenIdError('the provider sent no ID token');
      return { issuer: claims.iss, subject: claims.sub, claims };
    } catch (error) {
      throw asOpenIdError(error);
    }
  }

  #configuration(): Promise<oidc.Configuration> {
    this.#discovered ??= this.#discover().catch((error) => {
      this.#discovered = null;
      throw asOpenIdError(error);
    });
    return this.#discovered;
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#config;
    const oidc = await client();
    const url = new URL(issuer);
    const execute = [oidc.enableNonRepudiationChecks];
    if (url.protocol === 'http:') execute.push(oidc.allowInsecureRequests);
    return oidc.discovery(url, clientId, clientSecret, undefined, { execute, timeout: TIMEOUT_S });
  }
}

function asOpenIdError(error: unknown): OpenIdError {
  if (error instanceof OpenIdError) return error;
  const { message, cause } = error as Error;
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return new OpenIdError(why, { cause: error });
}
