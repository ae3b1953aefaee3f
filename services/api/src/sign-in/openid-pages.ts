import {
  accountOfIdentity,
  type ClaimsMapping,
  type ExternalSignInSources,
  linkIdentity,
  Problem,
} from '@outrider/access';
import {
  type Arrival,
  OpenIdError,
  type OpenIdIdentity,
  OpenIdProvider,
  type OpenIdState,
  type Tokens,
} from '@outrider/auth';
import type { SessionId, UserId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import { type Context, Hono } from 'hono';
import type { ApiEnv } from '../context.ts';
import type { Authentication } from '../route.ts';
import { beginConsoleSession } from './console-session.ts';

/** Settings of sign-in by an OpenID Connect provider. */
export interface OpenIdSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  scopes: string;
  /** Name on the button of the login page. */
  name: string;
  /** Public URL of the service. */
  publicUrl: string;
  mapping: ClaimsMapping;
}

export interface OpenIdSignInParts extends ExternalSignInSources {
  registry: Registry;
  settings: OpenIdSettings;
  authentication: Authentication;
  tokens: Tokens;
  logger: Logger;
}

const STATE_TTL_S = 600;
const PURPOSE = 'openid';
const PATH = '/auth/oidc';
const MAX_QUERY_CHARACTERS = 8192;
/** Page of the console that shows the result of linking an account to the provider. */
const LINK_PAGE = '/me?openId=';

/** The account to be linked, and the session that confirmed its password. */
export interface LinkWish {
  userId: UserId;
  sessionId: SessionId;
}

/**
 * Sign-in by an OpenID Connect provider. The state of a sign-in is kept in a signed cookie, so that any instance can
 * continue it.
 */
export class OpenIdSignIn {
  readonly #parts: OpenIdSignInParts;
  readonly #provider: OpenIdProvider;

  constructor(parts: OpenIdSignInParts) {
    this.#parts = parts;
    const { settings } = parts;
    this.#provider = new OpenIdProvider({ ...settings, redirectUri: `${settings.publicUrl}${PATH}/callback` });
  }

  /** Name on buttons. */
  get name(): string {
    return this.#parts.settings.name;
  }

  get issuer(): string {
    return this.#parts.settings.issuer;
  }

  /**
   * URL to which a browser is redirected, and the cookie that it must send back.
   *
   * @param link the existing account to be linked; null: a sign-in
   * @throws {OpenIdError} when the provider is unavailable
   */
  async start(arrival: Arrival, link: LinkWish | null): Promise<{ url: string; cookie: string }> {
    const { url, kept } = await this.#provider.start();
    const state = await this.#parts.tokens.issueState(PURPOSE, { ...kept, ...link }, STATE_TTL_S);
    return { url, cookie: stateCookie(arrival, state, STATE_TTL_S) };
  }

  /**
   * `GET /auth/oidc/start` redirects a browser to the provider. `GET /auth/oidc/callback` receives it back and begins a
   * console session, or links the account that requested it.
   */
  pages(): Hono<ApiEnv> {
    const app = new Hono<ApiEnv>();
    app.get(`${PATH}/start`, async (c) => {
      try {
        const { url, cookie } = await this.start(c.get('arrival'), null);
        return redirect(url, [cookie]);
      } catch (error) {
        return this.#failed(c, error, '/?signIn=failed');
      }
    });
    app.get(`${PATH}/callback`, (c) => this.#takeBack(c));
    return app;
  }

  async #takeBack(c: Context<ApiEnv>): Promise<Response> {
    const arrival = c.get('arrival');
    let kept: Awaited<ReturnType<Tokens['verifyState']>> = null;
    try {
      const cookie = new RegExp(`(?:^|; *)${stateCookieName(arrival)}=([\\w.-]+)`).exec(c.req.header('cookie') ?? '');
      kept = cookie?.[1] === undefined ? null : await this.#parts.tokens.verifyState(PURPOSE, cookie[1]);
      const query = new URL(c.req.url).search;
      if (kept === null || query.length > MAX_QUERY_CHARACTERS) throw new OpenIdError('the sign-in was not begun here');
      const identity = await this.#provider.finish(query, kept as unknown as OpenIdState);
      return kept.userId === undefined
        ? await this.#signIn(c, identity)
        : await this.#link(arrival, identity, kept as unknown as LinkWish);
    } catch (error) {
      return this.#failed(c, error, kept?.userId === undefined ? '/?signIn=failed' : `${LINK_PAGE}failed`);
    }
  }

  async #signIn(c: Context<ApiEnv>, identity: OpenIdIdentity): Promise<Response> {
    const { settings, authentication, ...sources } = this.#parts;
    const arrival = c.get('arrival');
    const account = await accountOfIdentity(sources, identity, settings.mapping);
    const user = authentication.user(account.id) ?? account;
    if (user.blocked) {
      await authentication.noteFailedLogin(user.login, 'blocked', arrival);
      const outcome = (await authentication.accountBlock(user.id)).replace('account-', '');
      return redirect(`/?signIn=${outcome}`, [stateCookie(arrival, '', 0)]);
    }
    await authentication.refuseBlocked(user);
    const cookie = await beginConsoleSession(authentication, user, arrival, c.req.header('user-agent') ?? '');
    return redirect('/', [cookie, stateCookie(arrival, '', 0)]);
  }

  /**
   * Links an account. The session that requested it must still be open. Its own cookie is not sent with a redirect from
   * another site.
   */
  async #link(arrival: Arrival, identity: OpenIdIdentity, { userId, sessionId }: LinkWish): Promise<Response> {
    const { authentication, registry } = this.#parts;
    const user = authentication.user(userId);
    if (user === undefined || user.blocked || (await authentication.sessions.get(sessionId)) === null)
      throw new OpenIdError('the session that began to link an account has ended');
    const by = registry.as({ user, sessionId, address: arrival.address });
    const isLinked = await linkIdentity({ registry: by }, identity, user);
    return redirect(`${LINK_PAGE}${isLinked ? 'linked' : 'taken'}`, [stateCookie(arrival, '', 0)]);
  }

  async #failed(c: Context<ApiEnv>, error: unknown, location: string): Promise<Response> {
    if (!(error instanceof OpenIdError) && !(error instanceof Problem && error.kind === 'conflict')) throw error;
    const arrival = c.get('arrival');
    this.#parts.logger.warn({ reason: error.message }, 'a sign-in by OpenID Connect failed');
    await this.#parts.authentication.noteFailedLogin('OpenID Connect', error.message.slice(0, 200), arrival);
    return redirect(location, [stateCookie(arrival, '', 0)]);
  }
}

function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

function stateCookieName({ secure }: Arrival): string {
  return secure ? '__Host-outrider-sign-in' : 'outrider-sign-in';
}

/** `Lax`, because it is sent with the provider's redirect, which comes from another site. */
function stateCookie(arrival: Arrival, value: string, maxAgeSeconds: number): string {
  const flags = arrival.secure ? '; Secure' : '';
  return `${stateCookieName(arrival)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${flags}`;
}
