import type { BlockList } from 'node:net';
import { type Arrival, arrivalOf, isTrustedProxy, type Tokens } from '@outrider/auth';
import type { Directory } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import type { Context, MiddlewareHandler } from 'hono';
import type { ApiEnv, Identity, KnownIdentity } from '../context.ts';
import { isDiskFull } from '../http/error-responses.ts';
import type { Limits } from '../http/limits.ts';
import type { UntrustedProxies } from '../http/untrusted-proxies.ts';
import type { Authentication } from '../route.ts';
import { ipOf, subjectOf } from '../subjects.ts';
import type { Traccar } from '../traccar/traccar.ts';
import { identify } from './identify.ts';
import { LastUse } from './last-use.ts';

export interface IdentificationParts {
  registry: Registry;
  directory: Directory;
  /** See `ApiParts`. */
  refresh?: () => Promise<void>;
  tokens: Tokens;
  limits: Limits;
  authentication: Pick<Authentication, 'accountBlock'>;
  traccar: Pick<Traccar, 'serves' | 'identify'>;
  proxies: UntrustedProxies;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trusted: BlockList;
  now(): number;
}

/** Headers that proxies add to a request. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/** Determines the origin and the account of a request, and records the use of the session or key. */
export class Identification {
  readonly #parts: IdentificationParts;
  readonly #lastUse = new LastUse();

  constructor(parts: IdentificationParts) {
    this.#parts = parts;
  }

  arrivalOf(c: Context<ApiEnv>): Arrival {
    return arrivalOf(c.env?.incoming?.socket, (name) => c.req.header(name), this.#parts.trusted);
  }

  /** @param arrival default: the one stored with the request */
  async identityOf(c: Context<ApiEnv>, arrival: Arrival = c.get('arrival')): Promise<Identity> {
    const { traccar, tokens, directory, authentication } = this.#parts;
    const identity = traccar.serves(c.req.path)
      ? traccar.identify(c)
      : identify(c.req.path, c.req.header('authorization'), arrival.cookie, tokens, directory);
    return withReason(await identity, authentication);
  }

  /**
   * Sets `arrival` and `identity`.
   *
   * @throws {Problem} `too-many-requests` where the address or the account is blocked
   */
  identified(): MiddlewareHandler<ApiEnv> {
    const { limits, tokens, traccar, refresh } = this.#parts;
    return async (c, next) => {
      const arrival = this.arrivalOf(c);
      c.set('arrival', arrival);
      const block = await limits.blockOf(ipOf(c));
      if (block !== null && !(await mayPassBlock(c, arrival, tokens, traccar))) throw block;
      // A client may use what it has just written through another instance, such as the account of a login.
      await refresh?.();
      const identity = await this.identityOf(c, arrival);
      if (block !== null && !('caller' in identity)) throw block;
      c.set('identity', identity);
      this.#noteProxy(c, identity);
      if ('caller' in identity) {
        await limits.refuseBlocked(subjectOf(identity));
        await this.#noteUse(identity, arrival.address).catch(passDiskFull);
      }
      await next();
    };
  }

  #noteProxy(c: Context<ApiEnv>, identity: Identity): void {
    if (FORWARDING_HEADERS.every((name) => c.req.header(name) === undefined)) return;
    const { proxies, trusted } = this.#parts;
    const peer = c.env?.incoming?.socket.remoteAddress;
    if (peer === undefined || isTrustedProxy(peer, trusted)) return;
    proxies.note({ peer, userId: 'caller' in identity ? identity.caller.id : null });
  }

  async #noteUse(identity: KnownIdentity, address: string): Promise<void> {
    const { registry, now } = this.#parts;
    const nowMs = now();
    if (identity.via === 'cookie' && this.#lastUse.isDue(identity.sessionId, nowMs))
      await registry.sessions.touch(identity.sessionId, address);
    if (identity.via === 'jwt' && this.#lastUse.isNewToken(identity.sessionId, identity.generation))
      await registry.sessions.noteToken(identity.sessionId, identity.generation);
    if (identity.via === 'api-key' && this.#lastUse.isDue(identity.apiKeyId, nowMs))
      await registry.apiKeys.touch(identity.apiKeyId, address);
  }
}

/** Adds the reason why a blocked account is blocked, which is looked up only when it calls. */
async function withReason(
  identity: Identity,
  { accountBlock }: Pick<Authentication, 'accountBlock'>,
): Promise<Identity> {
  return 'userId' in identity ? { ...identity, refused: await accountBlock(identity.userId) } : identity;
}

/**
 * Whether a call from a blocked address may continue. A console session is counted by its account, so the wrong
 * passwords of a colleague do not end it. A forged cookie costs one signature check, and no query.
 */
async function mayPassBlock(
  c: Context<ApiEnv>,
  { cookie }: Arrival,
  tokens: Pick<Tokens, 'verifyCookie'>,
  traccar: Pick<Traccar, 'serves'>,
): Promise<boolean> {
  if (cookie === null || c.req.header('authorization') !== undefined || traccar.serves(c.req.path)) return false;
  return (await tokens.verifyCookie(cookie)).error === undefined;
}

/** Read-only calls continue while the disk is full. */
function passDiskFull(error: unknown): void {
  if (!isDiskFull(error)) throw error;
}
