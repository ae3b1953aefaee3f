import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Access, notFound, Problem } from '@outrider/access';
import { type Arrival, countedAs } from '@outrider/auth';
import type { Directory } from '@outrider/domain';
import { type Logger, serviceVersion } from '@outrider/runtime';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { ApiEnv, Identity, KnownIdentity } from '../context.ts';
import type { Feeds } from '../feeds/feeds.ts';
import { readFormOrJson, readQuery, validate } from '../http/input.ts';
import type { Limits } from '../http/limits.ts';
import { streamed } from '../http/streamed.ts';
import type { Authentication } from '../route.ts';
import { crossOrigin } from '../routes/accounts/auth.ts';
import { ipOf, subjectOf } from '../subjects.ts';
import { type Call, type List, TRACCAR_LISTS } from './lists.ts';
import { CREDENTIALS, readerOf, TraccarLogins, traccarCookie } from './logins.ts';
import { TRACCAR_SERVER, traccarUser } from './models.ts';
import { TRACCAR_SOCKET, TraccarSockets } from './socket.ts';

export interface TraccarParts {
  /** False: the API is not served. */
  isOn: boolean;
  authentication: Authentication;
  limits: Limits;
  directory: Directory;
  feeds: Feeds;
  /** See `ApiParts`. */
  refresh: (() => Promise<void>) | undefined;
  /** Everything that the caller may access. */
  accessOf(identity: KnownIdentity, address: string): Access;
  /** Origin and transport of a WebSocket request. */
  arrivalOf(request: IncomingMessage): Arrival;
  /** Origins of other sites whose pages may connect. */
  corsOrigins: readonly string[];
  logger: Logger;
  now(): number;
}

/**
 * The read-only part of Traccar's API. It returns the same vehicles, positions, events and reports as `/api/v1`, with
 * the rights and limits of the caller, in Traccar's fields and units.
 */
export interface Traccar {
  app: Hono<ApiEnv>;
  /** Whether the path belongs to this API. */
  serves(path: string): boolean;
  /** Identifies the caller without checking a password. */
  identify(c: Context<ApiEnv>): Promise<Identity>;
  /**
   * Takes over an HTTP upgrade.
   *
   * @returns false if it is for another path
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Ends all WebSockets. */
  close(): void;
}

/** First path segments of Traccar's API that are answered here, if only with a refusal. */
const RESOURCES = ['session', 'server', 'devices', 'groups', 'geofences', 'users', 'positions', 'reports', 'events'];
const SERVED = new RegExp(`^/api/(?:${RESOURCES.join('|')})(?:/|$)`);
const VERSION = serviceVersion();
const READ_ONLY = 'The API for Traccar’s clients is read-only: make changes in the console, or under /api/v1.';
const sessionAsked = z.object({ token: z.string().max(2000).optional() });

export function createTraccar(parts: TraccarParts): Traccar {
  const { isOn, authentication, limits, directory, feeds, refresh, accessOf, arrivalOf, corsOrigins, logger } = parts;
  const logins = new TraccarLogins(authentication, directory);
  const sockets = new TraccarSockets({
    feeds,
    async identify({ headers }) {
      await refresh?.();
      return logins.identify({ authorization: headers.authorization, cookie: headers.cookie });
    },
    mayConnect: (request) => arrivalOf(request).mayConnect(corsOrigins),
    addressOf: (request) => arrivalOf(request).address,
    async refuseBlocked(identity, address) {
      await limits.refuseBlocked(`ip:${countedAs(address)}`);
      if ('caller' in identity) await limits.refuseBlocked(subjectOf(identity));
    },
    accessOf,
    logger,
  });
  return {
    app: isOn ? traccarApp(parts, logins) : new Hono<ApiEnv>(),
    serves: (path) => isOn && SERVED.test(path),
    identify(c) {
      const token = c.req.path === '/api/session' ? c.req.query('token') : undefined;
      return logins.identify({ authorization: c.req.header('authorization'), cookie: c.req.header('cookie'), token });
    },
    upgrade(request, socket, head) {
      if (!isOn || request.url?.split('?', 1)[0] !== TRACCAR_SOCKET) return false;
      void sockets.upgrade(request, socket, head);
      return true;
    },
    close: () => sockets.close(),
  };
}

/** Identifies the caller, and returns everything that they may access. */
type CallOf = (c: Context<ApiEnv>) => Promise<Call & { identity: KnownIdentity }>;

function traccarApp({ limits, accessOf, authentication, logger, now }: TraccarParts, logins: TraccarLogins) {
  const app = new Hono<ApiEnv>();
  const guesses = limits.failedLogins((c) => {
    const isLogin = c.req.method === 'POST' && c.req.path === '/api/session';
    return isLogin || logins.isAttempt(c.req.header('authorization'), c.get('identity')) ? ipOf(c) : null;
  });
  app.use('/api/*', (c, next) => (SERVED.test(c.req.path) ? guesses(c, next) : next()));

  const callOf: CallOf = async (c) => {
    const authorization = c.req.header('authorization');
    const arrival = c.get('arrival');
    if (authorization !== undefined && logins.isAttempt(authorization, c.get('identity')))
      c.set('identity', await logins.basic(authorization, arrival, c.req.header('user-agent') ?? ''));
    const identity = readerOf(c.get('identity'));
    return { access: accessOf(identity, arrival.address), identity, nowMs: now(), signal: c.req.raw.signal };
  };

  app.get('/api/server', (c) => {
    c.set('routePath', '/api/server');
    return c.json({ ...TRACCAR_SERVER, version: VERSION });
  });
  serveSession(app, { logins, callOf, accessOf, maxAgeSeconds: Math.floor(authentication.sessionTtlMs / 1000) });
  app.get('/api/devices/:id{[0-9]{1,16}}', async (c) => {
    c.set('routePath', '/api/devices/{id}');
    const [device] = await TRACCAR_LISTS.devices.items({ id: [Number(c.req.param('id'))] }, await callOf(c));
    return c.json(device);
  });
  for (const [name, { query, items }] of Object.entries<List>(TRACCAR_LISTS))
    app.get(`/api/${name}`, async (c) => {
      c.set('routePath', `/api/${name}`);
      const call = await callOf(c);
      const found = await items(readQuery(query, c.req.url) as never, call);
      if (!(Symbol.asyncIterator in found)) return c.json(found);
      const body = await streamed(inBrackets(found), (error) => {
        // Client disconnects are not errors.
        if (!call.signal.aborted) logger.error({ err: error }, 'response aborted while it was being sent');
      });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    });
  app.all('/api/*', async (c, next) => {
    if (!SERVED.test(c.req.path)) return next();
    c.set('routePath', '/api/…');
    await callOf(c);
    if (c.req.method === 'GET') throw notFound();
    throw new Problem('method-not-allowed', READ_ONLY, { headers: { allow: 'GET' } });
  });
  return app;
}

/** Routes for login and logout: the only changes possible here. */
function serveSession(
  app: Hono<ApiEnv>,
  parts: { logins: TraccarLogins; callOf: CallOf; accessOf: TraccarParts['accessOf']; maxAgeSeconds: number },
): void {
  const { logins, callOf, accessOf, maxAgeSeconds } = parts;
  app.get('/api/session', async (c) => {
    c.set('routePath', '/api/session');
    const { token } = readQuery(sessionAsked, c.req.url) as z.output<typeof sessionAsked>;
    const { identity } = await callOf(c);
    if (token !== undefined) c.header('set-cookie', traccarCookie(token, c.get('arrival'), maxAgeSeconds));
    return c.json(traccarUser(identity.caller));
  });
  app.post('/api/session', async (c) => {
    c.set('routePath', '/api/session');
    const arrival = c.get('arrival');
    // Only this service's own pages may log a browser in: another page could log it in to an account of its own.
    if (arrival.origin() === 'other') throw crossOrigin();
    const credentials = validate(CREDENTIALS, await readFormOrJson(c.req.raw), 'body');
    const { identity, token } = await logins.login(credentials, arrival, c.req.header('user-agent') ?? '');
    c.header('set-cookie', traccarCookie(token, arrival, maxAgeSeconds));
    return c.json(traccarUser(identity.caller));
  });
  app.delete('/api/session', async (c) => {
    c.set('routePath', '/api/session');
    const arrival = c.get('arrival');
    if (arrival.origin() === 'other') throw crossOrigin();
    // A client that sends its password with each call means the session of its cookie.
    const ofCookie = await logins.identify({ authorization: undefined, cookie: c.req.header('cookie') });
    const identity = 'caller' in ofCookie ? ofCookie : (await callOf(c)).identity;
    // An API key stays valid: its holder gave back only the cookie.
    if (identity.sessionId !== null)
      await accessOf(identity, arrival.address).users.endSession(identity.caller.id, identity.sessionId);
    c.header('set-cookie', traccarCookie('', arrival, 0));
    return c.body(null, 204);
  });
}

/** Joins pages into one JSON array. The first page is awaited before anything is sent. */
async function* inBrackets(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield before + page.map((item) => JSON.stringify(item)).join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
