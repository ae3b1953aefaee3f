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

/** Groups of calls, as the documentation shows them. */
export const GROUPS = {
  Authentication: 'Login, refresh, logout, and the keys that tokens are signed with.',
  Users: 'Accounts of operators, dealers and users.',
  Vehicles: 'Vehicle profiles, their groups, and where they are.',
  Geozones: 'Geofences as GeoJSON features.',
  Maintenance: 'Counters of vehicles, plans of maintenance, and services that were done.',
  Notifications: 'Which events users are notified of, and their notifications.',
  Feeds: 'Events and positions for programs that must not miss any.',
  Reports: 'What vehicles did.',
  VideoService: 'Video terminals, and the fragments of video that they are asked for.',
  Operations: 'Where to start, and how the service is; for machines, outside the limits.',
} as const;
export type GroupName = keyof typeof GROUPS;

/** What a handler answers. */
export interface Reply {
  status: number;
  /** Sent as JSON; nothing is sent where it is undefined. */
  body?: unknown;
  /**
   * Sent in place of a body as it comes, with the `content-type` of the headers: what is too long to be held at once.
   */
  stream?: AsyncIterable<string | Uint8Array>;
  /**
   * As `stream`, in bytes; nothing is read of it before it is taken, and never where only the headers were asked for.
   */
  bytes?: AsyncIterable<Uint8Array>;
  /** What is kept of the body for an `Idempotency-Key`, where the body has a secret that is shown once. */
  keptBody?: unknown;
  headers?: Record<string, string>;
}

/** An answer as it is described. */
export interface Answer {
  description: string;
  /** Undefined: no body. Its example is the first of its schema. */
  body?: z.ZodType;
  /** Of the body. Default: `application/json`. */
  mediaType?: string;
  /** Further media types that it may come in: each with how it looks. */
  otherTypes?: Readonly<Record<string, z.ZodType>>;
  headers?: Record<string, string>;
}

/** What shows that somebody has the second factor of an account. */
export interface SecondFactorProof {
  /** Code of the app, or a recovery code. */
  totp?: string | undefined;
  passkey?: SignedPasskey | undefined;
}

/** What the login routes alone may touch. */
export interface Authentication {
  /**
   * The account of this login and password; null if they are wrong. Slowed down where passwords of the account are
   * guessed.
   */
  authenticate(login: string, password: string, arrival: Arrival): Promise<User | null>;
  /**
   * Has an account with a second factor show it.
   *
   * @throws {Problem} without one, with a wrong one, and after too many wrong codes
   */
  passSecondFactor(user: User, proof: SecondFactorProof, arrival: Arrival): Promise<void>;
  /** Challenges that passkeys sign. */
  passkeys: Pick<PasskeySignIn, 'site' | 'begin'>;
  /**
   * The account whose passkey signed a challenge: both factors at once.
   *
   * @throws {Problem} `wrong-passkey`, and where the account is blocked
   */
  authenticatePasskey(signed: SignedPasskey, arrival: Arrival): Promise<User>;
  sessions: Pick<Registry['sessions'], 'get' | 'refresh'>;
  beginSession(user: User, arrival: Arrival, userAgent: string): Promise<Session>;
  /** Notes in the audit trail that a login was refused. */
  noteFailedLogin(login: string, reason: string, arrival: Arrival): Promise<void>;
  tokens: Tokens;
  /** What links in e-mails that set a password need. */
  passwordReset: PasswordResetSources;
  /** Name of the service that people can sign in by; null: no such service is set. */
  openIdName: string | null;
  /** Resolves after so many milliseconds. */
  wait(ms: number): Promise<void>;
  sessionTtlMs: number;
  /** The account as it is now. */
  user(id: User['id']): User | undefined;
  /** Why a blocked account is blocked. */
  accountBlock(id: User['id']): Promise<AccountBlock>;
  /**
   * Says that the account is blocked, and notes the login that failed: for callers alone who showed that it is theirs.
   *
   * @throws {Problem} `account-blocked` or `account-expired`
   */
  refuseBlockedAccount(user: User, arrival: Arrival): Promise<void>;
  /** @throws {Problem} when the user is blocked for going over a limit */
  refuseBlocked(user: User): Promise<void>;
}

/** The request around what was validated. */
export interface OpenContext {
  arrival: Arrival;
  header(name: string): string | undefined;
  nowMs: number;
  authentication: Authentication;
}
export interface AuthorizedContext {
  /** As it came: `HEAD` is answered like `GET`. */
  method: string;
  header(name: string): string | undefined;
  caller: User;
  /** Null: of a caller with an API key. */
  sessionId: SessionId | null;
  via: Via;
  arrival: Arrival;
  /** Aborted when the client leaves before it has its answer. */
  signal: AbortSignal;
  /**
   * The caller as it would call now, for answers that take long.
   *
   * @throws {Problem} when the call would be refused
   */
  callerNow(): Promise<User>;
  /** What can be followed: rights are judged in it. */
  feeds: Feeds;
  nowMs: number;
  /** What `If-Match` asks for: a version, or null where any will do. */
  ifMatch: number | null;
  /** Checks what callers draw. */
  geometry: GeometryChecks;
  /** Where terminals reach the gateway now. */
  terminals(): TerminalListeners;
  /** The service itself, for operators alone: a route asks `access.requireOperator` first. */
  operated: OperatedService;
  /** Sign-in by a provider; null: none is set. */
  openId: OpenIdSignIn | null;
  /** The one way to data: everything in it is checked against the caller's rights. */
  access: Access;
}

interface Described {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/api/v1/vehicles/{id}`. */
  path: string;
  group: GroupName;
  operationId: string;
  /** One line. */
  summary: string;
  description?: string;
  /** Request headers that mean something here alone. */
  headers?: Record<string, string | { description: string; example: string }>;
  /** The body as people read it, where it is validated in parts and not as a whole. */
  bodyDescribed?: z.ZodType;
  /** Media type of the body, where it is not plain JSON. */
  bodyType?: 'text/csv' | 'application/geo+json' | 'application/octet-stream';
  /** The body may be a form (`application/x-www-form-urlencoded`) as well, with the same fields. */
  takesForm?: true;
  /** The specification shows no body for the call, so clients may send any. */
  ignoresBody?: true;
  /** The answer holds a secret: it is not stored to be given again for an `Idempotency-Key`. */
  answersSecret?: true;
  /** Where a body may be larger than others. */
  maxBodyBytes?: number;
  answers: Record<number, Answer>;
  /** Beyond those that every call of this kind can meet. */
  problems?: readonly ProblemKind[];
  /**
   * What an API key needs for it; null: no key will do. Default: `read` for `GET`, and `write` for all else.
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

/** A call as the documentation needs it. */
export interface DescribedRoute extends Described {
  /** `unlimited`: open, and outside the limits. */
  access: 'open' | 'authorized' | 'unlimited';
  params: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
}

/** A call: what it takes, what it answers, what it does. Validation and documentation both come from it. */
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

/** What an API key needs for the call; null: no key will do. */
export function scopeOf({ method, scope }: Pick<DescribedRoute, 'method' | 'scope'>): ApiKeyScope | null {
  return scope === undefined ? (method === 'get' ? 'read' : 'write') : scope;
}

/** @returns the session of the call @throws {Problem} where it came with an API key, whose scope was not looked at */
export function sessionOf({ sessionId }: Pick<AuthorizedContext, 'sessionId'>): SessionId {
  if (sessionId === null) throw new Problem('forbidden', 'This is not for callers with an API key.');
  return sessionId;
}

/** A call that anyone may make. */
export function openRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: Typed<P, Q, B, OpenContext>,
): Route {
  return erase('open', route);
}

/** A call for those who have a token and the right to use the API. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  route: Typed<P, Q, B, AuthorizedContext>,
): Route {
  return erase('authorized', route);
}

/** Calls of one group, by their methods: each of {@link route} takes its path first. */
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

/** The edge validates by the very schemas that the handler's types come from: here the types may be forgotten. */
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
