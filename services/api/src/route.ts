import type { Tokens } from '@outrider/auth';
import type { SessionId, User } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import type { z } from 'zod';
import type { ProblemKind } from './problem.ts';
import type { Reach } from './reach.ts';

/** Groups of calls, as the documentation shows them. */
export const GROUPS = {
  Authorization: 'Login, refresh, logout, and the keys that tokens are signed with.',
  Users: 'Accounts of operators, dealers and users.',
  Vehicles: 'Vehicle profiles, their groups, and where they are.',
  Geozones: 'Geofences as GeoJSON features.',
  Reports: 'What vehicles did.',
} as const;
export type GroupName = keyof typeof GROUPS;

/** What a handler answers. */
export interface Reply {
  status: number;
  /** Sent as JSON; nothing is sent where it is undefined. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** An answer as it is described. */
export interface Answer {
  description: string;
  /** Undefined: no body. */
  body?: z.ZodType;
  headers?: Record<string, string>;
}

/** What the login routes alone may touch. */
export interface Doorkeeper {
  users: Pick<Registry['users'], 'authenticate'>;
  sessions: Registry['sessions'];
  tokens: Tokens;
  sessionTtlMs: number;
  /** The account as it is now. */
  user(id: User['id']): User | undefined;
  /** @throws {Problem} when the user is blocked for going over a limit */
  refuseBlocked(user: User): Promise<void>;
}

/** The request around what was validated. */
export interface OpenContext {
  /** Of the client, proxies seen through. */
  address: string;
  header(name: string): string | undefined;
  nowMs: number;
  doorkeeper: Doorkeeper;
}
export interface AuthorizedContext {
  caller: User;
  sessionId: SessionId;
  nowMs: number;
  /** What `If-Match` asks for: a version, or null where any will do. */
  ifMatch: number | null;
  /** The one way to data: everything in it is checked against the caller's rights. */
  reach: Reach;
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
  headers?: Record<string, string>;
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

/** A call: what it takes, what it answers, what it does. Validation and documentation both come from it. */
export interface Route extends Described {
  access: 'open' | 'authorized';
  params: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
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
