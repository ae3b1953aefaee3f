import type { QuotaKind, QuotaScope } from '@outrider/domain';

/** One thing that is wrong with a request. */
export interface InputError {
  /** Where in the body: a JSON pointer (RFC 6901); the empty one is the whole body. */
  pointer?: string;
  /** Which parameter of path, query or header, where it is not in the body. */
  parameter?: string;
  /** Which row of a CSV, as a spreadsheet counts them: 1 is the header. */
  row?: number;
  /** Which column of it, by the name in the header. */
  column?: string;
  detail: string;
}

/** Kinds of problem, by the last part of their `type`; each has one status and one title. */
export const PROBLEMS = {
  'invalid-request': [400, 'The request is not valid'],
  'not-authorized': [401, 'A valid token is needed'],
  'wrong-credentials': [401, 'Login or password is wrong'],
  forbidden: [403, 'This account may not do that'],
  'no-api-access': [403, 'This account has no right to use the API'],
  'cross-origin': [403, 'Not from a page of this service'],
  'not-found': [404, 'There is nothing here'],
  'method-not-allowed': [405, 'This method is not served here'],
  'not-acceptable': [406, 'It does not come in this format'],
  conflict: [409, 'It would clash with something that exists'],
  'quota-exceeded': [409, 'A quota is used up'],
  'not-done': [409, 'The file is not there yet, or will never be'],
  gone: [410, 'It was deleted'],
  stale: [412, 'It was changed meanwhile'],
  'too-large': [413, 'The request is too large'],
  'unsupported-media-type': [415, 'The body is of another type'],
  'too-much': [422, 'The answer would take too much'],
  'range-not-satisfiable': [416, 'The file has no such bytes'],
  'idempotency-mismatch': [422, 'The key was used for another request'],
  'too-many-requests': [429, 'Too many requests'],
  'internal-error': [500, 'Something went wrong here'],
  unavailable: [503, 'Not possible at the moment'],
} as const satisfies Record<string, readonly [status: number, title: string]>;
export type ProblemKind = keyof typeof PROBLEMS;

/** A quota as a refusal names it. */
export interface ExceededQuota {
  scope: QuotaScope;
  kind: QuotaKind;
  limit: number;
  used: number;
  /** How much more the request needs. */
  requested: number;
}

/** Thrown where a request can't be served; the API turns it into an RFC 9457 response. */
export class Problem extends Error {
  override name = 'Problem';
  readonly kind: ProblemKind;
  readonly errors: readonly InputError[];
  readonly headers: Readonly<Record<string, string>>;
  /** The quota that the request would go beyond. */
  readonly quota: ExceededQuota | null;
  /** Somebody tried a password, and it was not the right one: it counts as a failed login, whatever the status. */
  readonly isWrongPassword: boolean;

  constructor(
    kind: ProblemKind,
    detail: string,
    more: {
      errors?: readonly InputError[];
      headers?: Readonly<Record<string, string>>;
      isWrongPassword?: boolean;
      quota?: ExceededQuota;
    } = {},
  ) {
    super(detail);
    this.kind = kind;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
    this.isWrongPassword = more.isWrongPassword ?? false;
    this.quota = more.quota ?? null;
  }

  get status(): number {
    return PROBLEMS[this.kind][0];
  }

  /** The answer as RFC 9457 describes it. */
  toResponse(): Response {
    const [status, title] = PROBLEMS[this.kind];
    const body = {
      type: `urn:outrider:problem:${this.kind}`,
      title,
      status,
      detail: this.message,
      ...(this.errors.length > 0 ? { errors: this.errors } : {}),
      ...(this.quota === null ? {} : { quota: this.quota }),
    };
    return new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...this.headers },
    });
  }
}

/** The answer to what does not exist and to what the caller may not see: the very same. */
export function notFound(): Problem {
  return new Problem('not-found', 'It does not exist, or this account may not see it.');
}

/** One bad field of the body. */
export function badField(pointer: string, detail: string): Problem {
  return new Problem('invalid-request', 'The body is not valid.', { errors: [{ pointer, detail }] });
}

/** The password that an account should have shown that it knows is another. */
export function wrongPassword(pointer: string): Problem {
  const errors = [{ pointer, detail: 'It is not the password of this account.' }];
  return new Problem('invalid-request', 'The body is not valid.', { errors, isWrongPassword: true });
}

/** Why only an operator may give a value. */
export function operatorOnly(field: string): string {
  return field === 'terminalId'
    ? 'This terminal sends data already, and not for a vehicle of yours: ask an operator to move it.'
    : 'It is no terminal of the vehicle.';
}

/** One bad parameter. */
export function badParameter(parameter: string, detail: string): Problem {
  return new Problem('invalid-request', 'A parameter is not valid.', { errors: [{ parameter, detail }] });
}

/** Steps into a value as a JSON pointer (RFC 6901). */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
