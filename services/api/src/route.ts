import { type Access, type PasswordResetSources, Problem, type ProblemKind } from '@outrider/access';
import type { Arrival, Tokens } from '@outrider/auth';
import type { ApiKeyScope, SessionId, User } from '@outrider/domain';
import type { Registry, Session } from '@outrider/registry';
import type { z } from 'zod';
import type { AccountBlock, Via } from './context.ts';
import type { Feeds } from './feeds/feeds.ts';
import type { GeometryChecks } from './geozones/geometry-checks.ts';
import type { OperatedService } from './operated-service.ts';
import type { OpenIdSignIn } from './sign-in/openid-pages.ts';
import type { PasskeySignIn, SignedPasskey } from './sign-in/passkey-sign-in.ts';
import type { TerminalListeners } from './terminal-listeners.ts';

/** Groups of calls in the documentation. */
export const GROUPS = {
  Authentication: 'Login, refresh, logout, and the public keys of tokens.',
  Users: 'Accounts of operators, dealers and users.',
  Vehicles: 'Vehicle profiles, their groups, and where they are.',
  Geozones: 'Geofences as GeoJSON features.',
  Maintenance: 'Counters of vehicles, maintenance plans, and completed services.',
  Notifications: 'Which events users are notified of, and their notifications.',
  Feeds: 'Events and positions for programs that must not miss any of them.',
  Reports: 'Reports on what vehicles did, and the jobs and schedules that make them.',
  VideoService: 'Video terminals, and video clips ordered from them.',
  Operations: 'Index of the API, health and metrics of the service; not counted towards the limits.',
} as const;
export type GroupName = keyof typeof GROUPS;

/** Response of a handler. */
export interface Reply {
  status: number;
  /** Sent as JSON; undefined: no body. */
  body?: unknown;
  /** Sent in place of `body`, with the `content-type` of the headers, for content too long to be held in memory. */
  stream?: AsyncIterable<string | Uint8Array>;
  /** As `stream`, in bytes. Read lazily, and never if only the headers were requested. */
  bytes?: AsyncIterable<Uint8Array>;
  /** The body to store for an `Idempotency-Key`, if `body` holds a secret that is shown once. */
  keptBody?: unknown;
  headers?: Record<string, string>;
}

/** Documentation of a response. */
export interface Answer {
  description: string;
  /** Undefined: no body. The first example of the schema is shown. */
  body?: z.ZodType;
  /** Media type of the body. Default: `application/json`. */
  mediaType?: string;
  /** Further media types of the response, each with its schema. */
  otherTypes?: Readonly<Record<string, z.ZodType>>;
  headers?: Record<string, string>;
}

/** Proof of the second factor of an account. */
export interface SecondFactorProof {
  /** Code of the app, or a recovery code. */
  totp?: string | undefined;
  passkey?: SignedPasskey | undefined;
}

/** Dependencies that only the login routes may use. */
export interface Authentication {
  /**
   * The account with this login and password; null if they are wrong. Slowed down while passwords of the account are
   * being guessed.
   */
  authenticate(login: string, password: string, arrival: Arrival): Promise<User | null>;
  /**
   * Requires proof from an account with a second factor.
   *
   * @throws {Problem} if the proof is missing or wrong, and after too many wrong codes
   */
  passSecondFactor(user: User, proof: SecondFactorProof, arrival: Arrival): Promise<void>;
  /** Creates challenges for passkeys to sign. */
  passkeys: Pick<PasskeySignIn, 'site' | 'begin'>;
  /**
   * The account whose passkey signed a challenge. This proves both factors at once.
   *
   * @throws {Problem} `wrong-passkey`, and when the account is blocked
   */
  authenticatePasskey(signed: SignedPasskey, arrival: Arrival): Promise<User>;
  sessions: Pick<Registry['sessions'], 'get' | 'refresh'>;
  beginSession(user: User, arrival: Arrival, userAgent: string): Promise<Session>;
  /** Notes in the audit trail that a login was refused. */
  noteFailedLogin(login: string, reason: string, arrival: Arrival): Promise<void>;
  tokens: Tokens;
  /** Dependencies of the e-mails with password links. */
  passwordReset: PasswordResetSources;
  /** Name of the OpenID provider for sign-in; null: none is configured. */
  openIdName: string | null;
  /** Resolves after the given number of milliseconds. */
  wait(ms: number): Promise<void>;
  sessionTtlMs: number;
  /** The current state of the account. */
  user(id: User['id']): User | undefined;
  /** Why a blocked account is blocked. */
  accountBlock(id: User['id']): Promise<AccountBlock>;
  /**
   * States that the account is blocked, and records the failed login. Only for callers who proved that the account is
   * theirs.
   *
   * @throws {Problem} `account-blocked` or `account-expired`
   */
  refuseBlockedAccount(user: User, arrival: Arrival): Promise<void>;
  /** @throws {Problem} when the user is blocked for going over a limit */
  refuseBlocked(user: User): Promise<void>;
}

/** Context of a request, besides its validated input. */
export interface OpenContext {
  arrival: Arrival;
  header(name: string): string | undefined;
  nowMs: number;
  authentication: Authentication;
}
export interface AuthorizedContext {
  /** Method of the request as sent: `HEAD` is handled like `GET`. */
  method: string;
  header(name: string): string | undefined;
  caller: User;
  /** Null if the caller uses an API key. */
  sessionId: SessionId | null;
  via: Via;
  arrival: Arrival;
  /** Aborted when the client disconnects before the response is complete. */
  signal: AbortSignal;
  /**
   * The caller with current rights, for responses that take long.
   *
   * @throws {Problem} when the call would now be refused
   */
  callerNow(): Promise<User>;
  /** Feeds of events and positions, which check the caller's rights themselves. */
  feeds: Feeds;
  nowMs: number;
  /** Version that `If-Match` requires; null if any version is allowed. */
  ifMatch: number | null;
  /** Checks geometries that callers send. */
  geometry: GeometryChecks;
  /** Current address and ports at which terminals connect to the gateway. */
  terminals(): TerminalListeners;
  /** The service itself, for operators only: a route calls `access.requireOperator` first. */
  operated: OperatedService;
  /** Sign-in through an OpenID provider; null: none is configured. */
  openId: OpenIdSignIn | null;
  /** The only way to data: everything in it is checked against the caller's rights. */
  access: Access;
}

interface Described {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** In OpenAPI notation: `/api/v1/vehicles/{id}`. */
  path: string;
  group: GroupName;
  operationId: string;
  /** One line. */
  summary: string;
  description?: string;
  /** Request headers that only this call uses. */
  headers?: Record<string, string | { description: string; example: string }>;
  /** Schema of the body for the documentation, if it is validated in parts and not as a whole. */
  bodyDescribed?: z.ZodType;
  /** Media type of the body, if it is not plain JSON. */
  bodyType?: 'text/csv' | 'application/geo+json' | 'application/octet-stream';
  /** The body may also be a form (`application/x-www-form-urlencoded`) with the same fields. */
  takesForm?: true;
  /** The specification defines no body for the call, so clients may send any. */
  ignoresBody?: true;
  /** The response holds a secret, so it is not stored for repetition by `Idempotency-Key`. */
  answersSecret?: true;
  /** Size limit of the body, if it is larger than the usual one. */
  maxBodyBytes?: number;
  answers: Record<number, Answer>;
  /** Problems beyond those that every call of this kind can return. */
  problems?: readonly ProblemKind[];
  /**
   * Scope that an API key needs for the call; null: API keys are refused. Default: `read` for `GET`, otherwise `write`.
   */
  scope?: ApiKeyScope | null;
  /** Takes `If-Match` with the version that the caller last saw. */
  conditional?: boolean;
}

export interface Input<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

/** A call, as far as the documentation needs it. */
export interface DescribedRoute extends Described {
  /** `unlimited`: open, and outside the limits. */
  access: 'open' | 'authorized' | 'unlimited';
  params: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
}

/** A call with its input, responses and handler. Validation and documentation are both derived from it. */
export interface Route extends DescribedRoute {
  access: 'open' | 'authorized';
  handle(input: Input<unknown, unknown, unknown>, context: OpenContext | AuthorizedContext): Promise<Reply>;
}

interface Typed<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, C> extends Described {
  params?: P;
  query?: Q;
  body?: B;
  handle(input: Input<z.output<P>, z.output<Q>, z.output<B>>, context: C): Promise<Reply>;
}

/** Scope that an API key needs for the call; null: API keys are refused. */
export function scopeOf({ method, scope }: Pick<DescribedRoute, 'method' | 'scope'>): ApiKeyScope | null {
  return scope === undefined ? (method === 'get' ? 'read' : 'write') : scope;
}

/**
 * @returns the session of the call
 * @throws {Problem} when the caller uses an API key; the key's scope is not checked
 */
export function sessionOf({ sessionId }: Pick<AuthorizedContext, 'sessionId'>): SessionId {
  if (sessionId === null) throw new Problem('forbidden', 'Callers with an API key may not do this.');
  return sessionId;
}

/** A call without authentication. */
export function openRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: Typed<P, Q, B, OpenContext>,
): Route {
  return erase('open', route);
}

/** A call that needs a token and the right to use the API. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: Typed<P, Q, B, AuthorizedContext>,
): Route {
  return erase('authorized', route);
}

/** Creators of the calls of one group, by method: each takes the path first, then what {@link route} takes. */
export function callsOf(group: GroupName) {
  const by =
    (method: Described['method']) =>
    <P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
      path: string,
      call: Omit<Typed<P, Q, B, AuthorizedContext>, 'method' | 'path' | 'group'>,
    ) =>
      route({ ...call, method, path, group });
  return { get: by('get'), post: by('post'), put: by('put'), patch: by('patch'), remove: by('delete') };
}

/**
 * Drops the types of a handler's input. That is safe, because requests are validated by the schemas that the types come
 * from.
 */
function erase<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, C>(
  access: Route['access'],
  route: Typed<P, Q, B, C>,
): Route {
  return {
    ...route,
    access,
    params: route.params ?? null,
    query: route.query ?? null,
    body: route.body ?? null,
    handle: route.handle as unknown as Route['handle'],
  };
}
