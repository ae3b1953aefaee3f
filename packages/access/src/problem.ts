import type { AccountRight, ApiKeyScope, QuotaKind, QuotaScope, ServiceName } from '@outrider/domain';

/** One thing that is wrong with a request. */
export interface InputError {
  /** Position in the body: a JSON pointer (RFC 6901); the empty one is the whole body. */
  pointer?: string;
  /** Parameter of path, query or header, if the fault is not in the body. */
  parameter?: string;
  /** Row of a CSV, as counted by spreadsheets: 1 is the header. */
  row?: number;
  /** Column of the row, by its name in the header. */
  column?: string;
  detail: string;
}

/** Kinds of problem, by the last segment of their `type`; each has one status and one title. */
export const PROBLEMS = {
  'invalid-request': [400, 'The request is not valid'],
  'not-authorized': [401, 'A valid token is needed'],
  'wrong-credentials': [401, 'Login or password is wrong'],
  'account-blocked': [401, 'This account is blocked'],
  'account-expired': [401, 'This account has expired'],
  'second-factor-needed': [401, 'A second factor is needed'],
  'wrong-second-factor': [401, 'The second factor is wrong'],
  'wrong-passkey': [401, 'The passkey was not accepted'],
  forbidden: [403, 'This account may not do that'],
  'vehicle-suspended': [403, 'The vehicle is suspended'],
  'no-api-access': [403, 'This account has no right to use the API'],
  'cross-origin': [403, 'The request does not come from a page of this service'],
  'not-found': [404, 'Not found'],
  'method-not-allowed': [405, 'This path does not support the method'],
  'not-acceptable': [406, 'The requested format is not available'],
  conflict: [409, 'The request conflicts with the current state'],
  'quota-exceeded': [409, 'A quota would be exceeded'],
  'unsafe-command': [409, 'The vehicle is not known to be slow enough'],
  'not-done': [409, 'The file is not ready, or will not be created'],
  gone: [410, 'No longer available'],
  'cursor-expired': [410, 'The log no longer contains the position of the cursor'],
  stale: [412, 'It was changed in the meantime'],
  'too-large': [413, 'The request is too large'],
  'unsupported-media-type': [415, 'The media type of the body is not supported'],
  'too-much': [422, 'The response would be too large or take too long'],
  'range-not-satisfiable': [416, 'The file does not have the requested bytes'],
  'idempotency-mismatch': [422, 'The idempotency key was used for another request'],
  'too-many-requests': [429, 'Too many requests'],
  'too-many-commands': [429, 'Too many commands'],
  damaged: [500, 'The stored data is damaged'],
  'internal-error': [500, 'Internal error'],
  unavailable: [503, 'Temporarily unavailable'],
} as const satisfies Record<string, readonly [status: number, title: string]>;
export type ProblemKind = keyof typeof PROBLEMS;

/** A quota as named in a refusal. */
export interface ExceededQuota {
  scope: QuotaScope;
  kind: QuotaKind;
  limit: number;
  used: number;
  /** Additional amount that the request needs. */
  requested: number;
}

/** Where a consumer with an outdated cursor can resume a feed. */
export interface FeedResumption {
  cursor: string;
  /** ISO 8601 time at which the oldest remaining item was written. */
  from: string;
}

/** Thrown where a request can't be served; the API turns it into an RFC 9457 response. */
export class Problem extends Error {
  override name = 'Problem';
  readonly kind: ProblemKind;
  readonly errors: readonly InputError[];
  readonly headers: Readonly<Record<string, string>>;
  /** The quota that the request would go beyond. */
  readonly quota: ExceededQuota | null;
  /** The right or the service that the account was not given. */
  readonly right: AccountRight | ServiceName | null;
  /** Where a feed can be resumed, if the cursor is too old. */
  readonly resumption: FeedResumption | null;
  /** Whether a wrong password was tried: it counts as a failed login, whatever the status. */
  readonly isWrongPassword: boolean;

  constructor(
    kind: ProblemKind,
    detail: string,
    more: {
      errors?: readonly InputError[];
      headers?: Readonly<Record<string, string>>;
      isWrongPassword?: boolean;
      quota?: ExceededQuota;
      right?: AccountRight | ServiceName;
      resumption?: FeedResumption;
    } = {},
  ) {
    super(detail);
    this.kind = kind;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
    this.isWrongPassword = more.isWrongPassword ?? false;
    this.quota = more.quota ?? null;
    this.right = more.right ?? null;
    this.resumption = more.resumption ?? null;
  }

  get status(): number {
    return PROBLEMS[this.kind][0];
  }

  /** The response in the format of RFC 9457. */
  toResponse(): Response {
    const [status, title] = PROBLEMS[this.kind];
    const body = {
      type: `urn:outrider:problem:${this.kind}`,
      title,
      status,
      detail: this.message,
      ...(this.errors.length > 0 ? { errors: this.errors } : {}),
      ...(this.quota === null ? {} : { quota: this.quota }),
      ...(this.right === null ? {} : { right: this.right }),
      ...(this.resumption === null ? {} : { resumption: this.resumption }),
    };
    return new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...this.headers },
    });
  }
}

/** Same response for what does not exist and for what the caller may not see. */
export function notFound(): Problem {
  return new Problem('not-found', 'It does not exist, or this account may not see it.');
}

/** Refusal of one field of the body. */
export function badField(pointer: string, detail: string): Problem {
  return new Problem('invalid-request', 'The body is not valid.', { errors: [{ pointer, detail }] });
}

/** Refusal of a wrong password of the account. */
export function wrongPassword(pointer: string): Problem {
  const errors = [{ pointer, detail: 'It is not the password of this account.' }];
  return new Problem('invalid-request', 'The body is not valid.', { errors, isWrongPassword: true });
}

/** Error text for a value that only operators may set. */
export function operatorOnly(field: string): string {
  return field === 'terminalId'
    ? 'This terminal already sends data, and is not fitted to a vehicle of yours. Ask an operator to move it.'
    : 'It must be the address of the vehicle’s own terminal.';
}

/** Refusal because the account lacks a right or a service. */
export function rightNeeded(right: AccountRight | ServiceName): Problem {
  return new Problem('forbidden', `This account does not have \`${right}\`, which the call needs.`, { right });
}

/** Refusal because the API key lacks a scope. */
export function scopeNeeded(scope: ApiKeyScope): Problem {
  return new Problem('forbidden', `This API key does not have the scope \`${scope}\`, which the call needs.`);
}

/** Refusal of one parameter. */
export function badParameter(parameter: string, detail: string): Problem {
  return new Problem('invalid-request', 'A parameter is not valid.', { errors: [{ parameter, detail }] });
}

/** Formats a path into a value as a JSON pointer (RFC 6901). */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
