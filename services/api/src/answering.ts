import { Access, type LoginBrake, type Sources } from '@outrider/access';
import type { Claim, Registry } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import type { Context } from 'hono';
import type { ApiEnv, KnownIdentity } from './context.ts';
import type { GeometryChecks } from './geometry-checks.ts';
import { readJson, readJsonBytes, readQuery, readText, refuseBody, validate, versionOfIfMatch } from './input.ts';
import { contentOf, idempotencyKey, isRepeatable, onceOnly } from './once-only.ts';
import type { Authentication, Route } from './route.ts';
import { crossOrigin, noApiAccess, refused } from './routes/auth.ts';
import { streamed, streamedBytes } from './streamed.ts';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Answers requests by routes: checks who calls, validates, hands over to the route, and writes its reply. */
export function createAnswering(parts: {
  sources: Omit<Sources, 'brake'>;
  registry: Registry;
  geometry: GeometryChecks;
  authentication: Authentication;
  brake: LoginBrake;
  logger: Logger;
  now(): number;
}): (c: Context<ApiEnv>, route: Route) => Promise<Response> {
  const { sources, registry, geometry, authentication, brake, logger, now } = parts;

  return async function answer(c: Context<ApiEnv>, route: Route): Promise<Response> {
    const identity = c.get('identity');
    if (route.access === 'authorized') {
      if ('refused' in identity) throw refused(identity.refused);
      if (identity.via === 'jwt' && !identity.caller.apiAccess) throw noApiAccess();
      // Browsers send the cookie with requests of any page: only this service's own pages may change something.
      if (identity.via === 'cookie' && !SAFE_METHODS.has(c.req.method) && c.get('arrival').origin() !== 'same')
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
            access: accessFor(identity, c, null),
          }
        : { arrival: c.get('arrival'), header: (name: string) => c.req.header(name), nowMs: now(), authentication };
    const key = isRepeatable(route) ? idempotencyKey(c.req.header('idempotency-key')) : null;
    if (key !== null && 'caller' in identity && route.access === 'authorized') {
      const request = { userId: identity.caller.id, key, ...contentOf(c.req.method, c.req.url, input.body) };
      const { status, headers, body } = await onceOnly(registry, request, (claim) =>
        route.handle(input, { ...context, access: accessFor(identity, c, claim) }),
      );
      return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
    }
    const { status, body, stream, bytes, headers = {} } = await route.handle(input, context);
    // Client disconnects are not errors.
    const onBroken = (error: unknown) => {
      if (!c.req.raw.signal.aborted) logger.error({ err: error }, 'an answer broke off');
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

  function accessFor({ caller, sessionId }: KnownIdentity, c: Context<ApiEnv>, claim: Claim | null): Access {
    return new Access(caller, { ...sources, brake }, { sessionId, address: c.get('arrival').address }, claim);
  }
}

function bodyOf(request: Request, { bodyType }: Route): Promise<unknown> {
  if (bodyType === 'application/geo+json') return readJsonBytes(request);
  return bodyType === 'text/csv' ? readText(request, bodyType) : readJson(request);
}
