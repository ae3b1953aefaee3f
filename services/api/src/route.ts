import type { Access, ProblemKind } from '@outrider/access';
import type { Arrival, Tokens } from '@outrider/auth';
import type { SessionId, User } from '@outrider/domain';
import type { Registry, Session } from '@outrider/registry';
import type { z } from 'zod';
import type { Via } from './context.ts';
import type { GeometryChecks } from './geometry-checks.ts';

/** Groups of calls, as the documentation shows them. */
export const GROUPS = {
  Authentication: 'Login, refresh, logout, and the keys that tokens are signed with.',
  Users: 'Accounts of operators, dealers and users.',
  Vehicles: 'Vehicle profiles, their groups, and where they are.',
  Geozones: 'Geofences as GeoJSON features.',
  Notifications: 'Which events users are notified of, and their notifications.',
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

/** What the login routes alone may touch. */
export interface Authentication {
  /**
   * The account of this login and password; null if they are wrong. Slowed down where passwords of the account are
   * guessed.
   */
  authenticate(login: string, password: string, arrival: Arrival): Promise<User | null>;
  sessions: Pick<Registry['sessions'], 'get' | 'touch'>;
  beginSession(user: User, arrival: Arrival, userAgent: string): Promise<Session>;
  /** Notes in the audit trail that a login was refused. */
  noteFailedLogin(login: string, reason: string, arrival: Arrival): Promise<void>;
  tokens: Tokens;
  sessionTtlMs: number;
  /** The account as it is now. */
  user(id: User['id']): User | undefined;
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
  sessionId: SessionId;
  via: Via;
  arrival: Arrival;
  /** Aborted when the client leaves before it has its answer. */
  signal: AbortSignal;
  nowMs: number;
  /** What `If-Match` asks for: a version, or null where any will do. */
  ifMatch: number | null;
  /** Checks what callers draw. */
  geometry: GeometryChecks;
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
  bodyType?: 'text/csv' | 'application/geo+json';
  /** The specification shows no body for the call, so clients may send any. */
  ignoresBody?: true;
  /** Where a body may be larger than others. */
  maxBodyBytes?: number;
  answers: Record<number, Answer>;
  /** Beyond those that every call of this kind can meet. */
  problems?: readonly ProblemKind[];
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
