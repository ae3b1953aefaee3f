import { type Access, Problem, scopeNeeded } from '@outrider/access';
import { hasScope } from '@outrider/domain';
import type { Claim, Registry } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import type { Context } from 'hono';
import type { ApiEnv, Identity, KnownIdentity } from '../context.ts';
import type { Feeds } from '../feeds/feeds.ts';
import type { GeometryChecks } from '../geozones/geometry-checks.ts';
import type { OperatedService } from '../operated-service.ts';
import { type Authentication, type Route, scopeOf } from '../route.ts';
import { crossOrigin, noApiAccess, refused } from '../routes/accounts/auth.ts';
import type { OpenIdSignIn } from '../sign-in/openid-pages.ts';
import type { TerminalListeners } from '../terminal-listeners.ts';
import {
  readBytes,
  readFormOrJson,
  readJson,
  readJsonBytes,
  readQuery,
  readText,
  refuseBody,
  validate,
  versionOfIfMatch,
} from './input.ts';
import { contentOf, idempotencyKey, isRepeatable, onceOnly } from './once-only.ts';
import { streamed, streamedBytes } from './streamed.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Runs a route for a request: checks the caller, validates, calls the route's handler, and writes its reply. */
export function createAnswering(parts: {
  /** Everything that the caller may access. */
  accessOf(identity: KnownIdentity, address: string, claim: Claim | null): Access;
  registry: Registry;
  geometry: GeometryChecks;
  authentication: Authentication;
  terminals(): TerminalListeners;
  operated: OperatedService;
  feeds: Feeds;
  openId: OpenIdSignIn | null;
  /** Identifies the sender of a request anew. */
  identifyAgain(c: Context<ApiEnv>): Promise<Identity>;
  logger: Logger;
  now(): number;
}): (c: Context<ApiEnv>, route: Route) => Promise<Response> {
  const {
    accessOf,
    registry,
    geometry,
    authentication,
    terminals,
    operated,
    feeds,
    openId,
    identifyAgain,
    logger,
    now,
  } = parts;

  return async function answer(c: Context<ApiEnv>, route: Route): Promise<Response> {
    const identity = c.get('identity');
    if (route.access === 'authorized') {
      const { via } = requireCaller(identity, route);
      // Browsers send the cookie with requests from any page: only this service's own pages may change something.
      if (via === 'cookie' && !SAFE_METHODS.has(c.req.method) && c.get('arrival').origin() !== 'same')
        throw crossOrigin();
    }
    const input = {
      params: route.params && validate(route.params, c.req.param(), 'parameter'),
      query: readQuery(route.query, c.req.url),
      body: route.body && validate(route.body, await bodyOf(c.req.raw, route), 'body'),
    };
    if (route.body === null && !SAFE_METHODS.has(c.req.method) && !route.ignoresBody) await refuseBody(c.req.raw);
    const context =
      'caller' in identity && route.access === 'authorized'
        ? {
            ...identity,
            method: c.req.raw.method,
            header: (name: string) => c.req.header(name),
            arrival: c.get('arrival'),
            signal: c.req.raw.signal,
            nowMs: now(),
            ifMatch: route.conditional ? versionOfIfMatch(c.req.header('if-match')) : null,
            geometry,
            terminals,
            operated,
            feeds,
            openId,
            callerNow: async () => requireCaller(await identifyAgain(c), route).caller,
            access: accessOf(identity, c.get('arrival').address, null),
          }
        : { arrival: c.get('arrival'), header: (name: string) => c.req.header(name), nowMs: now(), authentication };
    const key = isRepeatable(route) ? idempotencyKey(c.req.header('idempotency-key')) : null;
    if (key !== null && 'caller' in identity && route.access === 'authorized') {
      // The account may do less with another key, so that key must not see this key's responses.
      const ofKey = identity.apiKeyId === null ? key : `${identity.apiKeyId} ${key}`;
      const request = { userId: identity.caller.id, key: ofKey, ...contentOf(c.req.method, c.req.url, input.body) };
      const { status, headers, body } = await onceOnly(registry, request, (claim) =>
        route.handle(input, { ...context, access: accessOf(identity, c.get('arrival').address, claim) }),
      );
      return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
    }
    const { status, body, stream, bytes, headers = {} } = await route.handle(input, context);
    // Client disconnects are not errors.
    const onBroken = (error: unknown) => {
      if (!c.req.raw.signal.aborted) logger.error({ err: error }, 'response aborted while it was being sent');
    };
    if (bytes) return new Response(streamedBytes(bytes, onBroken), { status, headers });
    if (stream) return new Response(await streamed(stream, onBroken), { status, headers });
    if (body === undefined) return new Response(null, { status, headers });
    const text = JSON.stringify(body);
    const length = String(Buffer.byteLength(text));
    return new Response(text, {
      status,
      headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
    });
  };
}

/** @throws {Problem} where the caller may not make the call */
function requireCaller(identity: Identity, route: Route): KnownIdentity {
  if ('refused' in identity) throw refused(identity.refused);
  if (identity.via !== 'cookie' && !identity.caller.apiAccess) throw noApiAccess();
  requireScope(identity, route);
  return identity;
}

/** @throws {Problem} when the caller's API key does not permit such calls */
function requireScope({ via, caller }: KnownIdentity, route: Route): void {
  if (via !== 'api-key') return;
  const scope = scopeOf(route);
  if (scope === null) throw new Problem('forbidden', 'This call does not accept API keys: log in instead.');
  if (!hasScope(caller, scope)) throw scopeNeeded(scope);
}

function bodyOf(request: Request, { bodyType, takesForm }: Route): Promise<unknown> {
  if (takesForm) return readFormOrJson(request);
  if (bodyType === 'application/geo+json') return readJsonBytes(request);
  if (bodyType === 'application/octet-stream') return readBytes(request);
  return bodyType === 'text/csv' ? readText(request, bodyType) : readJson(request);
}
