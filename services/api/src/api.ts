import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { ErasureConfig, EventReport, ReportJobsConfig, VideoConfig, VideoFiles } from '@outrider/access';
import { Access, badField, LoginBrake, notFound, operatorOnly, Problem, quotaExceeded } from '@outrider/access';
import {
  type Arrival,
  arrivalOf,
  countedAs,
  isTrustedProxy,
  type Refused,
  type Tokens,
  trustedProxies,
  type Verified,
} from '@outrider/auth';
import { type Directory, tenantOf } from '@outrider/domain';
import { type Files, FilesAwayError, FilesFullError } from '@outrider/files';
import { type Hub, HubAwayError } from '@outrider/hub';
import {
  type Claim,
  ConflictError,
  NotFoundError,
  OperatorOnlyError,
  PasswordsBusyError,
  QuotaExceededError,
  type Registry,
  RegistryAwayError,
  RegistryFullError,
  StaleError,
  UnknownReferenceError,
} from '@outrider/registry';
import type { TrackReport } from '@outrider/reports';
import { type ReportArchive, TooManyRowsError } from '@outrider/reports';
import {
  Counter,
  Histogram,
  type Logger,
  type Registry as Metrics,
  type MetricsAccess,
  NO_TRACING,
  type Tracing,
} from '@outrider/runtime';
import { BusyError, TooMuchError, WarehouseAwayError, WarehouseFullError } from '@outrider/warehouse';
import { type Context, Hono, type MiddlewareHandler, type Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { consolePages } from './console.ts';
import type { ApiEnv, Identity, KnownIdentity } from './context.ts';
import { staticPages } from './docs.ts';
import { GeometryChecks } from './geometry-checks.ts';
import { identify } from './identify.ts';
import { ImportSlots, READING, WORKING } from './import-slots.ts';
import {
  etagOf,
  readJson,
  readJsonBytes,
  readQuery,
  readText,
  refuseBody,
  validate,
  versionOfIfMatch,
  wholeBody,
} from './input.ts';
import { LastUse } from './last-use.ts';
import { Limits, type LimitsConfig, type Subject } from './limits.ts';
import { mailPages } from './mail-pages.ts';
import { contentOf, idempotencyKey, isRepeatable, onceOnly } from './once-only.ts';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import type { Doorkeeper, Route } from './route.ts';
import { crossOrigin, noApiAccess, refused } from './routes/auth.ts';
import { operations, type ReadyCheck } from './routes/operations.ts';
import { DESCRIBED, ROUTES } from './routes.ts';
import { streamed, streamedBytes } from './streamed.ts';
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
   * Brings the directory up to what other instances committed before the call. Undefined where there are none: then a
   * call costs nothing for it.
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
   * Whose session of the console is it, by the cookie of a request that is served elsewhere, such as a WebSocket's? Null
   * where there is none, or where a page of another origin made the request.
   */
  cookieSession(request: IncomingMessage): Promise<Verified | Refused | null>;
  /** Address of the client that made a request, proxies seen through. */
  clientAddress(request: IncomingMessage): string;
  /** What is wrong with how requests come in, for `/health/ready`. */
  warnings(): readonly string[];
  /** Lets go of the registry; requests in hand are answered. */
  close(): void;
}

/** How large a body may be. */
interface BodySize {
  maxSize: number;
  limit: MiddlewareHandler<ApiEnv>;
}

/** Larger than the largest geofence that anyone draws. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Any number of these are read at once. */
const SMALL_BODY_BYTES = 64 * 1024;
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Who guesses from a thousand addresses must not fill the disk. */
const MAX_FAILED_LOGINS_NOTED = 300;
const FAILED_LOGINS_WINDOW_MS = 60_000;
/** What proxies add to a request. */
const FORWARDING_HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

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
  const doorkeeper: Doorkeeper = {
    async authenticate(account, password, { address }) {
      const source = countedAs(address);
      const isKnownSource = await registry.sessions.knowsSource(account, source);
      return brake.pass({ account, source, isKnownSource }, () => registry.users.authenticate(account, password));
    },
    sessions: registry.sessions,
    async beginSession(user, { address }, userAgent) {
      const { sessions } = registry.as({ user, sessionId: null, address });
      await sessions.noteSource(user.id, countedAs(address));
      return sessions.create(user.id, config.sessionTtlSeconds * 1000, address, userAgent);
    },
    async noteFailedLogin(login, reason, { address }) {
      const { hits } = await hub.hit('audit:failed-logins', FAILED_LOGINS_WINDOW_MS, now());
      if (hits > MAX_FAILED_LOGINS_NOTED) return;
      const user = await registry.users.byLogin(login);
      await registry.as({ user: null, sessionId: null, address }).audit.noteFailedLogin(login, reason, user);
    },
    tokens,
    sessionTtlMs: config.sessionTtlSeconds * 1000,
    user: (id) => directory.users.get(id),
    refuseBlocked: (user) => limits.refuseBlocked(`user:${user.id}`),
  };
  const seconds = new Histogram({
    name: 'outrider_http_request_seconds',
    help: 'Time to answer a request of the REST API, by the group of its route',
    labelNames: ['group'],
    buckets: [0.0025, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [parts.metrics],
  });
  const answered = new Counter({
    name: 'outrider_http_requests_total',
    help: 'Requests of the REST API that were answered, by route and status',
    labelNames: ['route', 'status'],
    registers: [parts.metrics],
  });

  // Whoever was blocked, deleted or changed has their sessions looked at again with the next call.
  const leave = registry.onChange((changes) => {
    for (const change of changes) if (change.kind === 'user') tokens.revokeUser(change.id as never);
  });

  const app = new Hono<ApiEnv>();

  app.use(async (c, next) => {
    const end = seconds.startTimer();
    await next();
    const headers = c.res.headers;
    headers.set('x-content-type-options', 'nosniff');
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
    const route = c.get('routePath') ?? 'other';
    end({ group: GROUPS.get(route) ?? 'other' });
    answered.inc({ route, status: String(c.res.status) });
  });

  if (tracing.isOn) app.use(traced(tracing));
  app.route('/', operations(parts));
  if (config.consoleDir) app.use(consolePages(config.consoleDir, SERVED));
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
  // Whoever got hold of a token must not find out the password by it.
  for (const path of ['/api/v1/me/password', '/api/v1/users/:id/password'])
    app.use(
      path,
      limits.failedLogins((c) => (c.req.method === 'PUT' && userOf(c.get('identity')) !== null ? ipOf(c) : null)),
    );
  app.route('/', mailPages(parts));
  const reading = new ImportSlots(READING);
  const working = new ImportSlots(WORKING);
  const usualSize: BodySize = { maxSize: MAX_BODY_BYTES, limit: limitBody(MAX_BODY_BYTES) };
  const largerSizes = new Map(
    ROUTES.flatMap(({ method, path, maxBodyBytes }) =>
      maxBodyBytes === undefined
        ? []
        : [[`${method.toUpperCase()} ${path}`, { maxSize: maxBodyBytes, limit: limitBody(maxBodyBytes) }] as const],
    ),
  );
  app.use((c, next) => {
    // No call has a body otherwise. GET and HEAD have none by the Fetch standard, and asking costs as much as the rest of the call.
    if (!METHODS_WITH_BODY.has(c.req.method)) return next();
    // Nobody in particular sends nothing that is large.
    const isKnown = userOf(c.get('identity')) !== null;
    const larger = isKnown ? largerSizes.get(`${c.req.method} ${c.req.path}`) : undefined;
    const size = larger ?? usualSize;
    const length = c.req.header('content-length');
    const isSmall = larger === undefined && length !== undefined && Number(length) <= SMALL_BODY_BYTES;
    return isKnown && !isSmall ? whenAdmitted(c, size, next) : size.limit(c, next);
  });

  /**
   * Large bodies are read, and then worked on, when there is memory for it: see {@link ImportSlots}. These are two things, so that a client
   * that sends slowly takes nothing from those whose bodies are here.
   */
  async function whenAdmitted(
    c: Context<ApiEnv>,
    { maxSize, limit }: BodySize,
    next: Next,
  ): Promise<Response | undefined> {
    const identity = c.get('identity');
    if (!('caller' in identity)) throw refused(identity.refused);
    const tenant = tenantOf(identity.caller);
    const { signal } = c.req.raw;
    const said = Number(c.req.header('content-length') ?? maxSize);
    const releases = [await reading.admit(tenant, said < maxSize ? said : maxSize, signal)];
    try {
      const answered = await limit(c, async () => {
        const body = await wholeBody(() => c.req.raw.arrayBuffer());
        c.req.raw = new Request(c.req.raw, { body });
        releases.push(await working.admit(tenant, body.byteLength, signal));
        await next();
      });
      return answered ?? undefined;
    } finally {
      for (const release of releases) release();
    }
  }

  // A path that names nothing goes before one that does: `vehicles/export` is no vehicle, by whatever method.
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

  function accessFor({ caller, sessionId }: KnownIdentity, c: Context<ApiEnv>, claim: Claim | null): Access {
    return new Access(caller, { ...parts, brake }, { sessionId, address: c.get('arrival').address }, claim);
  }

  async function answer(c: Context<ApiEnv>, route: Route): Promise<Response> {
    const identity = c.get('identity');
    if (route.access === 'authorized') {
      if ('refused' in identity) throw refused(identity.refused);
      if (identity.via === 'jwt' && !identity.caller.apiAccess) throw noApiAccess();
      // A browser brings the cookie along for whoever asks it to: only this service's own pages may change something.
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
        : { arrival: c.get('arrival'), header: (name: string) => c.req.header(name), nowMs: now(), doorkeeper };
    const key = isRepeatable(route) ? idempotencyKey(c.req.header('idempotency-key')) : null;
    if (key !== null && 'caller' in identity && route.access === 'authorized') {
      const request = { userId: identity.caller.id, key, ...contentOf(c.req.method, c.req.url, input.body) };
      const { status, headers, body } = await onceOnly(registry, request, (claim) =>
        route.handle(input, { ...context, access: accessFor(identity, c, claim) }),
      );
      return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
    }
    const { status, body, stream, bytes, headers = {} } = await route.handle(input, context);
    // Who left is no fault of anybody's.
    const onBroken = (error: unknown) => {
      if (!c.req.raw.signal.aborted) logger.error({ err: error }, 'an answer broke off');
    };
    if (bytes) return new Response(streamedBytes(bytes, onBroken), { status, headers });
    if (stream) return new Response(await streamed(stream, onBroken), { status, headers });
    if (body === undefined) return new Response(null, { status, headers });
    return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
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

/** Where a body does not say how long it is, it is read here, and not by whoever wants it. */
function limitBody(maxSize: number): MiddlewareHandler<ApiEnv> {
  const onError = () => new Problem('too-large', `A body may have ${maxSize} bytes.`).toResponse();
  const limit = bodyLimit({ maxSize, onError });
  return async (c, next) => {
    let isRead = false;
    const answered = await wholeBody(() =>
      limit(c, async () => {
        isRead = true;
      }),
    );
    return isRead ? next() : (answered ?? undefined);
  };
}

function bodyOf(request: Request, { bodyType }: Route): Promise<unknown> {
  if (bodyType === 'application/geo+json') return readJsonBytes(request);
  return bodyType === 'text/csv' ? readText(request, bodyType) : readJson(request);
}

function ipOf(c: Context<ApiEnv>): Subject {
  return `ip:${countedAs(c.get('arrival').address)}`;
}

function userOf(identity: Identity): Subject | null {
  return 'caller' in identity ? `user:${identity.caller.id}` : null;
}

/** Every path with what is served there; one that names fewer things goes before others that it looks like. */
const PATHS = [...Map.groupBy(ROUTES, ({ path }) => path)]
  .map(([path, routes]) => ({
    path,
    routes,
    /** Whether it could be taken for another path, that something is named in. */
    isAlsoOther: ROUTES.some((other) => other.path !== path && patternOf(other.path).test(path)),
    pattern: patternOf(path),
  }))
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length);

/** First parts of the paths that are no views of the console. */
const SERVED: ReadonlySet<string> = new Set([
  ...DESCRIBED.map(({ path }) => path.split('/')[1] ?? ''),
  ...['assets', 'docs', 'email', 'live', 'maps'],
]);

/** The group of routes that a path belongs to. */
const GROUPS = new Map(ROUTES.map(({ path, group }) => [path as string, group]));

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function notAllowed(served: readonly Route[]): Problem {
  const allowed = served.map(({ method }) => method.toUpperCase()).join(', ');
  return new Problem('method-not-allowed', `Served here: ${allowed}.`, { headers: { allow: allowed } });
}

/** Kinds as the paths have them. */
function nameOf(kind: ConflictError['kind']): string {
  return kind === 'geofence' ? 'geozone' : kind.replace('-', ' ');
}

function forOperators({ field }: OperatorOnlyError): Problem {
  return new Problem('forbidden', 'This value may be set by operators alone.', {
    errors: [{ pointer: `/${field}`, detail: operatorOnly(field) }],
  });
}

/** Is it that a server behind this one does not answer? */
function isAway(error: unknown): boolean {
  return [HubAwayError, RegistryAwayError, WarehouseAwayError, FilesAwayError].some((Away) => error instanceof Away);
}

/** Is it that a disk is full? */
function isDiskFull(error: unknown): boolean {
  return [RegistryFullError, WarehouseFullError, FilesFullError].some((Full) => error instanceof Full);
}

/** What the registry refuses, in the words of HTTP; null for what nobody foresaw. */
function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof NotFoundError) return notFound();
  if (error instanceof StaleError)
    return new Problem('stale', 'Read it again, and change what it is now.', {
      headers: { etag: etagOf(error.current.version) },
    });
  if (error instanceof ConflictError) {
    const pointer = error.kind === 'geofence' ? `/properties/${error.field}` : `/${error.field}`;
    return new Problem('conflict', 'Something else has this value already.', {
      errors: [{ pointer, detail: `Another ${nameOf(error.kind)} has it.` }],
    });
  }
  if (error instanceof OperatorOnlyError) return forOperators(error);
  if (error instanceof QuotaExceededError) return quotaExceeded(error);
  if (error instanceof UnknownReferenceError) return badField(`/${error.field}`, `${error.id} does not exist.`);
  if (error instanceof TooManyRowsError) return new Problem('too-much', `${error.message}.`);
  if (error instanceof TooMuchError)
    return new Problem('too-much', 'Ask for fewer vehicles, or for less time.', {
      errors: [{ parameter: 'from', detail: `It takes more ${error.what} than one question may.` }],
    });
  if (error instanceof BusyError)
    return new Problem('unavailable', 'Too many reports are being made; try again.', {
      headers: { 'retry-after': '5' },
    });
  if (error instanceof PasswordsBusyError)
    return new Problem('unavailable', 'Too many passwords are being checked; try again.', {
      headers: { 'retry-after': '1' },
    });
  if (isDiskFull(error))
    return new Problem('unavailable', 'The disk is full: nothing was written. Try again later.', {
      headers: { 'retry-after': '30' },
    });
  if (isAway(error))
    return new Problem('unavailable', 'A part of the service does not answer; try again.', {
      headers: { 'retry-after': '5' },
    });
  return null;
}
