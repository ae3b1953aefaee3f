import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import type {
  CommandConfig,
  ErasureConfig,
  EventReport,
  HistoryConfig,
  HistorySources,
  ReportJobsConfig,
  VideoConfig,
  VideoFiles,
} from '@outrider/access';
import { Access, LoginBrake, notFound, type Owned, Problem, type PushAccessConfig } from '@outrider/access';
import { arrivalOfUpgrade, type Tokens, trustedProxies } from '@outrider/auth';
import type { Clock, Directory } from '@outrider/domain';
import type { FeedLog } from '@outrider/feeds';
import { DamagedFileError, type Files } from '@outrider/files';
import type { Geocoder } from '@outrider/geocoder';
import type { Hub } from '@outrider/hub';
import type { Log } from '@outrider/log';
import { abilitiesOf } from '@outrider/protocols';
import type { Claim, Registry } from '@outrider/registry';
import type { ReportArchive, TrackReport } from '@outrider/reports';
import { type Logger, type Metrics, type MetricsAccess, NO_TRACING, type Tracing } from '@outrider/runtime';
import type { Warehouse } from '@outrider/warehouse';
import { type ErrorHandler, Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';
import { consolePages } from './console.ts';
import type { ApiEnv, KnownIdentity } from './context.ts';
import { staticPages } from './docs.ts';
import { Feeds } from './feeds/feeds.ts';
import { GeometryChecks } from './geozones/geometry-checks.ts';
import { createAnswering } from './http/answering.ts';
import { compressed } from './http/compressed.ts';
import { crossOrigin } from './http/cross-origin.ts';
import { asProblem, isAway } from './http/error-responses.ts';
import { Limits, type LimitsConfig } from './http/limits.ts';
import { measured } from './http/measured.ts';
import { limitBodies } from './http/request-bodies.ts';
import { traced, traceIdOfSpan } from './http/traced.ts';
import { UntrustedProxies } from './http/untrusted-proxies.ts';
import { mapTiles } from './maps/maps.ts';
import type { OnlineMap } from './maps/online-map.ts';
import { openApiDocument } from './openapi.ts';
import { withSharedComponents } from './openapi-components.ts';
import { OperatedService, type ServiceLimits } from './operated-service.ts';
import { notAllowed, PATHS, SERVED } from './paths.ts';
import { operations, type ReadyCheck } from './routes/operations.ts';
import { DESCRIBED } from './routes.ts';
import { type SharePagesConfig, sharePages } from './share-pages.ts';
import { createAuthentication } from './sign-in/authentication.ts';
import { Identification } from './sign-in/identification.ts';
import { mailPages } from './sign-in/mail-pages.ts';
import { type OpenIdSettings, OpenIdSignIn } from './sign-in/openid-pages.ts';
import { apiKeyOf, ipOf, userOf } from './subjects.ts';
import { telemetryAppender } from './telemetry-appender.ts';
import { NO_LISTENERS, type TerminalListeners } from './terminal-listeners.ts';
import { createTraccar } from './traccar/traccar.ts';

export { builtConsole } from './console.ts';
export { ADMIN_LOGIN, ensureAdmin, refuseLostRegistry } from './first-start.ts';
export { MIN_PASSWORD_CHARACTERS } from './routes/accounts/users.ts';
export { quotasOf } from './settings.ts';
export {
  type DefinitionsDifference,
  lackingOf,
  lostOf,
  reconcileDefinitions,
} from './upkeep/definitions-reconciliation.ts';
export { type RegistryRebuild, rebuildRegistry } from './upkeep/registry-rebuild.ts';

export interface ApiConfig {
  /** How long after the login a token can be refreshed. */
  sessionTtlSeconds: number;
  limits: LimitsConfig;
  /** Proxies (addresses or subnets) whose `X-Forwarded-For` header is trusted. */
  trustedProxies: readonly string[];
  /** Origins of other sites whose pages may call the API. Default: none. */
  corsOrigins?: readonly string[];
  /** Address and ports at which terminals connect to the gateway. Absent: unknown. */
  terminals?: TerminalListeners;
  /** Folder of the built console. Null or absent: none is served. */
  consoleDir?: string | null;
  /**
   * Folders with tile archives, for `/maps`. If two archives have the same name, the one in the first folder is served.
   */
  mapFolders?: readonly string[];
  /** Online map of another server. Null or absent: no online map. */
  onlineMap?: OnlineMap | null;
  /** Whether webhooks may use plain HTTP and target private network addresses. */
  allowPrivateWebhooks: boolean;
  /** Settings for push messages to browsers. */
  push: PushAccessConfig;
  /** Whether the operator vouches for an e-mail address. Default: for none. */
  isTrustedAddress?: (address: string) => boolean;
  video: VideoConfig;
  commands: CommandConfig;
  share: SharePagesConfig;
  history: HistoryConfig;
  reports: ReportJobsConfig;
  erasure: ErasureConfig;
  /** Sign-in through an OpenID provider. Absent: disabled. */
  openId?: OpenIdSettings | null;
  /** Public URL of the service, to which passkeys are bound. Null or absent: the site that the request was sent to. */
  publicUrl?: string | null;
  /** Limits of the service, whose use operators are shown. Absent: no limit is known. */
  serviceLimits?: ServiceLimits;
  /** Whether the Traccar-compatible API is served. Default: true. */
  traccarApi?: boolean;
}

export interface ApiParts {
  config: ApiConfig;
  registry: Registry;
  /**
   * Cache of all current definitions. Access rights are decided from it, so a call costs no query.
   *
   * Fed by `followRegistry`, so a change made here is in force before its call is answered. If other instances write to
   * the same registry, it must also be fed from topic `definitions`, and brought up to date by `refresh`.
   */
  directory: Directory;
  /**
   * Brings the directory up to date with what other instances committed before the call. Undefined with a single
   * instance, where calls need no check.
   */
  refresh?: () => Promise<void>;
  tokens: Tokens;
  hub: Hub;
  trackReport: Owned<TrackReport>;
  reportArchive: Owned<ReportArchive>;
  /** Gaps of the archive, shown to operators. Absent: no gaps are shown. */
  archiveGaps?: Pick<Warehouse, 'gaps' | 'updateGap'>;
  geocoder: Geocoder;
  eventReport: Owned<EventReport>;
  historyArchive: HistorySources['historyArchive'];
  /** Files that the video service fetched. */
  videoFiles: VideoFiles;
  /** Files of reports. */
  reportFiles: Pick<Files, 'get' | 'info'>;
  /** Files of maintenance services: invoices, photos. */
  serviceFiles: Pick<Files, 'put' | 'get' | 'info' | 'delete'>;
  /** Ports that the gateway of this process has open, if the process runs one. */
  openTerminalPorts?: () => Omit<TerminalListeners, 'host'> | undefined;
  /** Called when counters of a vehicle are read. */
  countersRead?: () => void;
  /** Readiness checks by the name of the component, for `/health/ready`. */
  checks: Readonly<Record<string, ReadyCheck>>;
  /** All metrics, filtered by what a caller may see. */
  metricsAccess: Pick<MetricsAccess, 'read' | 'text'>;
  /**
   * Log that holds the dead letters, that feeds read, and to which imported history is appended. Absent: operators see
   * no dead letters, and feeds and imports fail.
   */
  log?: FeedLog & Pick<Log, 'endOffsets' | 'append'>;
  logger: Logger;
  metrics: Metrics;
  /** Default: no tracing. */
  tracing?: Tracing;
  clock: Clock;
  /** Resolves after the given number of milliseconds. Default: a timer of the clock. */
  wait?: (ms: number) => Promise<void>;
}

export interface Api {
  /** Handles one request; `env` is passed in by `@hono/node-server`. */
  fetch: (request: Request, env?: ApiEnv['Bindings']) => Response | Promise<Response>;
  /**
   * Takes over an HTTP upgrade to one of the API's own WebSockets.
   *
   * @returns false if the WebSocket is not one of the API's
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Problems with the way requests arrive, for `/health/ready`. */
  warnings(): readonly string[];
  /** Ends responses that would not end by themselves, and accepts no new ones. */
  endFeeds(): void;
  /** Unsubscribes from the registry. Requests in progress are still answered. */
  close(): void;
}

/** Paths on which an account proves its current password. */
const WITH_OWN_PASSWORD = [
  '/api/v1/me/password',
  '/api/v1/users/:id/password',
  '/api/v1/users/:id/email',
  '/api/v1/me/second-factor',
  '/api/v1/me/second-factor/disable',
  '/api/v1/me/second-factor/recovery-codes',
  '/api/v1/me/passkeys/options',
  '/api/v1/me/passkeys/:id/remove',
  '/api/v1/me/openid/link',
  '/api/v1/me/openid/unlink',
];

/**
 * The REST API. A request passes these stages in order. It is counted and timed. The client's address and account are
 * identified. It is refused if either is blocked or exceeds a limit. It is validated. It is handled, with
 * {@link Access} as the only way to data. Any error thrown on the way becomes problem+json.
 *
 * @throws {Error} when the configuration names a proxy that is not an address
 */
export function createApi(given: ApiParts): Api {
  const parts = { ...given, now: given.clock.now };
  const { config, registry, directory, tokens, hub, logger, clock, now, tracing = NO_TRACING } = parts;
  const limits = new Limits(config.limits, hub, now);
  const trusted = trustedProxies(config.trustedProxies);
  const geometry = new GeometryChecks(logger);
  const proxies = new UntrustedProxies({ logger, metrics: parts.metrics, now });
  const wait = parts.wait ?? ((ms: number) => clock.sleep(ms));
  const brake = new LoginBrake({ hub, now, wait });
  const authentication = createAuthentication({ ...parts, limits, brake, wait });
  const maps = mapTiles(config.mapFolders ?? [], logger, config.onlineMap ?? null);
  const operated = new OperatedService({ ...parts, limits: config.serviceLimits ?? {}, maps: maps.files });
  const terminals = () => ({ ...(config.terminals ?? NO_LISTENERS), ...parts.openTerminalPorts?.() });
  const feeds = new Feeds({
    log: parts.log,
    directory,
    geofenceOwners: (ids) => registry.geofences.ownersOf(ids),
    metrics: parts.metrics,
    clock,
  });
  const sources = { ...parts, abilitiesOf, brake, appendTelemetry: telemetryAppender(parts.log) };
  const accessOf = ({ caller, sessionId, apiKeyId }: KnownIdentity, address: string, claim: Claim | null = null) =>
    new Access(caller, sources, { sessionId, apiKeyId, address }, claim);
  const traccar = createTraccar({
    ...{ authentication, limits, directory, feeds, accessOf, logger, now, refresh: parts.refresh },
    isOn: config.traccarApi !== false,
    arrivalOf: (request) => arrivalOfUpgrade(request, trusted),
    corsOrigins: config.corsOrigins ?? [],
  });
  const identification = new Identification({ ...parts, limits, authentication, traccar, proxies, trusted });
  const openId = config.openId ? new OpenIdSignIn({ ...parts, settings: config.openId, authentication }) : null;
  const answer = createAnswering({
    accessOf,
    registry,
    geometry,
    authentication,
    terminals,
    operated,
    feeds,
    openId,
    identifyAgain: (c) => identification.identityOf(c),
    logger,
    now,
  });

  // Tokens of changed accounts are verified anew on the next call.
  const leave = registry.onChange((changes) => {
    for (const change of changes) if (change.kind === 'user') tokens.revokeUser(change.id as never);
  });

  // Hono's other routers do not support all of these paths.
  const app = new Hono<ApiEnv>({ router: new TrieRouter() });

  app.use(measured(parts.metrics));
  if (tracing.isOn) app.use(traced(tracing));
  if (config.corsOrigins?.length) app.use(crossOrigin(config.corsOrigins));
  app.use('/api/*', compressed());
  app.route('/', operations(parts));
  if (config.consoleDir) app.use(consolePages(config.consoleDir, SERVED, config.onlineMap?.origin ?? null));
  app.route('/', maps.app);
  app.route(
    '/',
    staticPages(() => JSON.stringify(withSharedComponents(openApiDocument(DESCRIBED, config.limits)))),
  );

  app.route('/', sharePages({ ...parts, addressOf: (c) => identification.arrivalOf(c).address }));

  app.use(identification.identified());
  app.use(limits.authorized((c) => userOf(c.get('identity'))));
  app.use(limits.ofApiKey((c) => apiKeyOf(c.get('identity'))));
  app.use(limits.unauthorized((c) => ('caller' in c.get('identity') ? null : ipOf(c))));
  limitGuesses(app, limits);
  app.route('/', mailPages(parts));
  if (openId !== null) app.route('/', openId.pages());
  app.use(limitBodies());
  app.route('/', traccar.app);
  serveRoutes(app, answer);

  app.onError(answerError(logger));

  return {
    fetch: (request, env = {}) => app.fetch(request, env),
    upgrade: traccar.upgrade,
    warnings: () => proxies.warnings(),
    endFeeds() {
      feeds.close();
      traccar.close();
    },
    close() {
      leave();
      feeds.close();
      traccar.close();
      operated.close();
      maps.close().catch((error) => logger.warn({ err: error }, 'a map could not be closed'));
      geometry.close();
    },
  };
}

/** Wrong passwords are counted on every path: a stolen token must not help to guess the password. */
function limitGuesses(app: Hono<ApiEnv>, limits: Limits): void {
  for (const path of ['/auth/login', '/auth/passkey'])
    app.use(
      path,
      limits.failedLogins((c) => (c.req.method === 'POST' ? ipOf(c) : null)),
    );
  for (const path of WITH_OWN_PASSWORD)
    app.use(
      path,
      limits.failedLogins((c) => (c.req.method !== 'GET' && userOf(c.get('identity')) !== null ? ipOf(c) : null)),
    );
}

/** Turns thrown errors into responses; unexpected errors are logged. */
function answerError(logger: Logger): ErrorHandler<ApiEnv> {
  return (error, c) => {
    const problem = asProblem(error);
    if (error instanceof DamagedFileError) logger.error({ err: error }, 'a stored file is damaged');
    if (isAway(error)) logger.warn({ err: error, traceId: traceIdOfSpan(c.get('span')) }, 'a request was not served');
    if (problem) return problem.toResponse();
    logger.error({ err: error, traceId: traceIdOfSpan(c.get('span')) }, 'a request failed');
    return new Problem('internal-error', 'The service failed. The error was logged.').toResponse();
  };
}

/** Registers the methods of each path. For any other method, the response lists the existing ones. */
function serveRoutes(app: Hono<ApiEnv>, answer: ReturnType<typeof createAnswering>): void {
  // Fixed paths come before those with parameters: `vehicles/export` never means a vehicle, whatever the method.
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
