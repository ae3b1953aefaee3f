import type * as oidc from 'openid-client';

/** Registration of this service at an OpenID Connect provider. */
export interface OpenIdConfig {
  /** URL of the provider, as in its ID tokens. Plain HTTP only on this machine. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** URL to which the provider redirects browsers. */
  redirectUri: string;
  /** Separated by spaces; must include `openid`. */
  scopes: string;
}

/** State that the browser keeps between the start of a sign-in and its end. */
export interface OpenIdState {
  state: string;
  nonce: string;
  verifier: string;
}

/** Identity of the user, from a verified ID token. */
export interface OpenIdIdentity {
  issuer: string;
  subject: string;
  claims: Readonly<Record<string, unknown>>;
}

/** The provider refused, or its response is invalid. */
export class OpenIdError extends Error {
  override name = 'OpenIdError';
}

const TIMEOUT_S = 10;

/** Loaded at the first sign-in, because most services have no provider. */
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

  /**
   * URL to which the browser is redirected, and the state that it must keep until it returns.
   *
   * @throws {OpenIdError}
   */
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
   * @param query of the URL to which the browser returned
   * @throws {OpenIdError} for a wrong state, nonce, issuer, audience or signature, an expired token, a refused code,
   *   and when the provider is unavailable
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
