import type { Problem } from './schema.ts';

/** A refused call: the API's problem+json, or a substitute if the response had none. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly problem: Problem;
  /** Seconds after which the call may be repeated, of a 429 or 503. */
  readonly retryAfterSeconds: number | null;

  constructor(problem: Problem, retryAfterSeconds: number | null) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return this.problem.status;
  }

  /** The errors of one field of the body, by JSON pointer. */
  at(pointer: string): string[] {
    return (this.problem.errors ?? []).filter((error) => error.pointer === pointer).map(({ detail }) => detail);
  }
}

/** The service could not be contacted, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}
