import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { ErasureConfig, EventReport, ReportJobsConfig, VideoConfig, VideoFiles } from '@outrider/access';
import { Access, LoginBrake, notFound, Problem } from '@outrider/access';
import {
  type Arrival,
  arrivalOf,
  isTrustedProxy,
  type Refused,
  type Tokens,
  trustedProxies,
  type Verified,
} from '@outrider/auth';
import type { Directory } from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import type { ReportArchive, TrackReport } from '@outrider/reports';
import { type Logger, type Registry as Metrics, type MetricsAccess, NO_TRACING, type Tracing } from '@outrider/runtime';
import { type Context, Hono } from 'hono';
import { createAnswering } from './answering.ts';
import { createAuthentication } from './authentication.ts';
import { compressed } from './compressed.ts';
import { consolePages } from './console.ts';
import type { ApiEnv, Identity } from './context.ts';
import { staticPages } from './docs.ts';
import { asProblem, isAway, isDiskFull } from './error-responses.ts';
import { GeometryChecks } from './geometry-checks.ts';
import { identify } from './identify.ts';
import { LastUse } from './last-use.ts';
import { Limits, type LimitsConfig } from './limits.ts';
import { mailPages } from './mail-pages.ts';
import { mapTiles } from './maps.ts';
import { measured } from './measured.ts';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import { notAllowed, PATHS, SERVED } from './paths.ts';
import { limitBodies } from './request-bodies.ts';
import { operations, type ReadyCheck } from './routes/operations.ts';
import { DESCRIBED } from './routes.ts';
import { ipOf, userOf } from './subjects.ts';
import { traced, traceIdOfSpan } from './traced.ts';
import { UntrustedProxies } from './untrusted-proxies.ts';

export type { EventReport, VideoConfig, VideoFiles } from '@outrider/access';
export type { TrackCursor, TrackReport } from '@outrider/reports';
export { type DefinitionsDifference, isInStep, reconcileDefinitions } from './definitions-reconciliation.ts';
export { createErasureRunner, type ErasureRunner, type ErasureRunnerParts } from './erasure.ts';
export { ADMIN_LOGIN, ensureAdmin } from './first-start.ts';
export { createHousekeeping, type Housekeeping, type HousekeepingParts } from './housekeeping.ts';
export type { LimitsConfig } from './limits.ts';
export { type ApiServer, listenApi } from './listen.ts';
export { createRelay, type Relay, type RelayParts } from './relay.ts';
export type { ReadyCheck } from './routes/operations.ts';
export { apiConfigOf, apiVariables, quotasOf } from './settings.ts';
export { createTerminalBindings } from './terminal-bindings.ts';

export interface ApiConfig {
  /** How long after the login a token can be refreshed. */
  sessionTtlSeconds: number;
  limits: LimitsConfig;
  /** Addresses or subnets whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** Folder of the built console. Null or absent: none is served. */
  consoleDir?: string | null;
  /** Folders with tile archives, for `/maps`; of two with one name, that of the first folder is served. */
  mapFolders?: readonly string[];
  /** Whether webhooks may go to plain http and into the own network. */
  allowPrivateWebhooks: boolean;
  /** Whether the operator vouches for an e-mail address. Default: for none. */
  isTrustedAddress?: (address: string) => boolean;
  video: VideoConfig;
  reports: ReportJobsConfig;
  erasure: ErasureConfig;
}

export interface ApiParts {
  config: ApiConfig;
  registry: Registry;
  /**
   * Everything defined, as it is in force: rights are decided by it, so that a call costs no query. Fed by
   * `followRegistry`, a change made here is in force before its call is answered; where other instances write to the
   * same registry, it must be fed from topic `definitions` as well, and brought up to date by `refresh`.
   */
  directory: Directory;
  /**
   * Brings the directory up to what other instances committed before the call. Undefined with a single instance,
   * where calls need no check.
   */
  refresh?: () => Promise<void>;
  tokens: Tokens;
  hub: Hub;
  trackReport: TrackReport;
  reportArchive: ReportArchive;
  eventReport: EventReport;
  /** Where the video service puts what it fetched. */
  videoFiles: VideoFiles;
  /** Where the files of reports are put. */
  reportFiles: Pick<Files, 'get' | 'info'>;
  /** Parts by name, for `/health/ready`. */
  checks: Readonly<Record<string, ReadyCheck>>;
  /** Everything counted, and who is shown it. */
  metricsAccess: Pick<MetricsAccess, 'read'>;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now: () => number;
  /** Resolves after so many milliseconds. Default: a timer. */
  wait?: (ms: number) => Promise<void>;
}

export interface Api {
  /** Answers one request; `env` is what `@hono/node-server` hands in. */
  fetch: (request: Request, env?: ApiEnv['Bindings']) => Response | Promise<Response>;
  /**
   * Whose session of the console is it, by the cookie of a request that is served elsewhere, such as a WebSocket's?
   * Null without a session, or where a page of another origin made the request.
   */
  cookieSession(request: IncomingMessage): Promise<Verified | Refused | null>;
  /** Address of the client that made a request, proxies seen through. */
  clientAddress(request: IncomingMessage): string;
  /** What is wrong with how requests come in, for `/health/ready`. */
  warnings(): readonly string[];
  /** Lets go of the registry; requests in hand are answered. */
  close(): void;
}

/** What proxies add to a request. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/**
 * The REST API. The life of a request, from top to bottom: counted and timed; its client's address and account found
 * out; refused if either is blocked or now goes over a limit; validated; handled, with no other way to data than
 * {@link Access}; and whatever was thrown on the way becomes problem+json.
 *
 * @throws {Error} when the configuration names a proxy that is no address
 */
export function createApi(parts: ApiParts): Api {
  const { config, registry, directory, tokens, hub, logger, now, tracing = NO_TRACING } = parts;
  const limits = new Limits(config.limits, hub, now);
  const trusted = trustedProxies(config.trustedProxies);
  const geometry = new GeometryChecks(logger);
  const lastUse = new LastUse();
  const proxies = new UntrustedProxies({ logger, metrics: parts.metrics, now });
  const brake = new LoginBrake({ hub, now, wait: parts.wait ?? ((ms) => setTimeout(ms)) });
  const authentication = createAuthentication({ ...parts, limits, brake });
  const answer = createAnswering({ sources: parts, registry, geometry, authentication, brake, logger, now });

  // Tokens of changed accounts are verified anew with the next call.
  const leave = registry.onChange((changes) => {
    for (const change of changes) if (change.kind === 'user') tokens.revokeUser(change.id as never);
  });

  const app = new Hono<ApiEnv>();

  app.use(measured(parts.metrics));
  if (tracing.isOn) app.use(traced(tracing));
  app.use('/api/*', compressed());
  app.route('/', operations(parts));
  if (config.consoleDir) app.use(consolePages(config.consoleDir, SERVED));
  app.route('/', mapTiles(config.mapFolders ?? [], logger));
  app.route('/', staticPages(JSON.stringify(withSharedComponents(openApiDocument(DESCRIBED, config.limits)))));

  app.use(async (c, next) => {
    const arrival = arrivalOf(c.env?.incoming?.socket, (name) => c.req.header(name), trusted);
    c.set('arrival', arrival);
    await limits.refuseBlocked(ipOf(c));
    // A client may read here what it has just written through another instance: the account of a login included.
    await parts.refresh?.();
    const identity = await identify(c.req.path, c.req.header('authorization'), arrival.cookie, tokens, directory);
    c.set('identity', identity);
    noteProxy(c, identity);
    if ('caller' in identity) {
      await limits.refuseBlocked(`user:${identity.caller.id}`);
      if (identity.via === 'cookie' && lastUse.isDue(identity.sessionId, now()))
        await registry.sessions.touch(identity.sessionId, arrival.address).catch((error) => {
          // What only reads goes on while the disk is full.
          if (!isDiskFull(error)) throw error;
        });
    }
    await next();
  });
  app.use(limits.authorized((c) => userOf(c.get('identity'))));
  app.use(limits.unauthorized((c) => (userOf(c.get('identity')) === null ? ipOf(c) : null)));
  app.use(
    '/auth/login',
    limits.failedLogins((c) => (c.req.method === 'POST' ? ipOf(c) : null)),
  );
  // A stolen token must not help to guess the password.
  for (const path of ['/api/v1/me/password', '/api/v1/users/:id/password'])
    app.use(
      path,
      limits.failedLogins((c) => (c.req.method === 'PUT' && userOf(c.get('identity')) !== null ? ipOf(c) : null)),
    );
  app.route('/', mailPages(parts));
  app.use(limitBodies());
  serveRoutes(app, answer);

  app.onError((error, c) => {
    const problem = asProblem(error);
    if (isAway(error)) logger.warn({ err: error, traceId: traceIdOfSpan(c.get('span')) }, 'a request was not served');
    if (problem) return problem.toResponse();
    logger.error({ err: error, traceId: traceIdOfSpan(c.get('span')) }, 'a request failed');
    return new Problem('internal-error', 'This is not the fault of the request. It was noted.').toResponse();
  });

  function noteProxy(c: Context<ApiEnv>, identity: Identity): void {
    if (FORWARDING_HEADERS.every((name) => c.req.header(name) === undefined)) return;
    const peer = c.env?.incoming?.socket.remoteAddress;
    if (peer === undefined || isTrustedProxy(peer, trusted)) return;
    proxies.note({ peer, userId: 'caller' in identity ? identity.caller.id : null });
  }

  function arrivalOfUpgrade({ socket, headers }: IncomingMessage): Arrival {
    const header = (name: string) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(',') : value;
    };
    return arrivalOf(socket, header, trusted);
  }

  return {
    fetch: (request, env = {}) => app.fetch(request, env),
    clientAddress: (request) => arrivalOfUpgrade(request).address,
    async cookieSession(request) {
      const { cookie, origin } = arrivalOfUpgrade(request);
      return cookie === null || origin() !== 'same' ? null : tokens.verifyCookie(cookie);
    },
    warnings: () => proxies.warnings(),
    close() {
      leave();
      geometry.close();
    },
  };
}

/** Each path by its methods; others are answered with those that exist. */
function serveRoutes(app: Hono<ApiEnv>, answer: ReturnType<typeof createAnswering>): void {
  // Fixed paths come before those with parameters: `vehicles/export` is no vehicle, whatever the method.
  for (const { path, isAlsoOther, routes } of PATHS) {
    const at = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const route of routes)
      app.on(route.method.toUpperCase(), at, async (c) => {
        c.set('routePath', path);
        return answer(c, route);
      });
    if (isAlsoOther) app.all(at, () => notAllowed(routes).toResponse());
  }

  app.notFound((c) => {
    const found = PATHS.find(({ pattern }) => pattern.test(c.req.path));
    return (found ? notAllowed(found.routes) : notFound()).toResponse();
  });
}
