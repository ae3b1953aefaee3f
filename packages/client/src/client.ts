import { ApiError, ConnectionError } from './errors.ts';
import type { FeedMessages, FeedOptions } from './feed.ts';
import { linesOf } from './lines.ts';
import type { Paths, Problem } from './schema.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
interface Call {
  path: unknown;
  query: unknown;
  headers: unknown;
  body: unknown;
  result: unknown;
}
type PathsWith<M extends Method> = { [P in keyof Paths]: Paths[P] extends Record<M, Call> ? P : never }[keyof Paths];
type CallOf<P extends keyof Paths, M extends Method> = Paths[P] extends Record<M, infer C extends Call> ? C : never;
type ItemOf<List> = List extends { items: (infer T)[] } ? T : never;
type Given<Name extends string, T> = [T] extends [never]
  ? unknown
  : Record<string, never> extends T
    ? { [K in Name]?: T }
    : { [K in Name]: T };

/** Options of a call: those for its path, query, headers and body, and a signal that aborts it. */
export type CallOptions<C extends Call> = Given<'path', C['path']> &
  Given<'query', C['query']> &
  Given<'headers', C['headers']> &
  Given<'body', C['body']> & { signal?: AbortSignal };
type OptionalWhenEmpty<C extends Call> =
  Record<string, never> extends CallOptions<C> ? [options?: CallOptions<C>] : [options: CallOptions<C>];

export interface ClientOptions {
  /** Origin of the service, such as `https://fleet.example`; in a browser, the page's own when left out. */
  baseUrl?: string;
  /** Returns the token of `POST /auth/login?jwt=1`. Left out in a browser, where the session's cookie is used. */
  token?: () => string | null;
  /** An API key, for programs, in place of a token. */
  apiKey?: string;
  /** Called with each refused call, before it is thrown. */
  onError?: (error: ApiError) => void;
  /**
   * Called when a `get` was refused because of too many calls. If it returns true, the call is repeated after these
   * seconds; otherwise, or if omitted, it fails.
   */
  onLimit?: (seconds: number) => boolean;
  fetch?: typeof fetch;
}

/** A response body with its entity tag, for `If-Match`. */
export interface Tagged<T> {
  body: T;
  etag: string | null;
}

type Options = {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  signal?: AbortSignal;
};

/**
 * Client of the API, with the types of its OpenAPI document. Throws `ApiError` for a refusal, `ConnectionError` if the
 * service is unavailable.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  get<P extends PathsWith<'get'>>(path: P, ...[options]: OptionalWhenEmpty<CallOf<P, 'get'>>) {
    return this.#json<CallOf<P, 'get'>['result']>('get', path, options as Options);
  }

  post<P extends PathsWith<'post'>>(path: P, ...[options]: OptionalWhenEmpty<CallOf<P, 'post'>>) {
    return this.#json<CallOf<P, 'post'>['result']>('post', path, options as Options);
  }

  put<P extends PathsWith<'put'>>(path: P, ...[options]: OptionalWhenEmpty<CallOf<P, 'put'>>) {
    return this.#json<CallOf<P, 'put'>['result']>('put', path, options as Options);
  }

  patch<P extends PathsWith<'patch'>>(path: P, ...[options]: OptionalWhenEmpty<CallOf<P, 'patch'>>) {
    return this.#json<CallOf<P, 'patch'>['result']>('patch', path, options as Options);
  }

  delete<P extends PathsWith<'delete'>>(path: P, ...[options]: OptionalWhenEmpty<CallOf<P, 'delete'>>) {
    return this.#json<CallOf<P, 'delete'>['result']>('delete', path, options as Options);
  }

  /** Reads a resource for editing, with the entity tag to send with its change. */
  async getTagged<P extends PathsWith<'get'>>(
    path: P,
    ...[options]: OptionalWhenEmpty<CallOf<P, 'get'>>
  ): Promise<Tagged<CallOf<P, 'get'>['result']>> {
    const response = await this.send('get', path, options as Options);
    return { body: await response.json(), etag: response.headers.get('etag') };
  }

  /** Iterates over the pages of a list. */
  async *pages<T>(page: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor: string | null }>) {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await page(cursor);
      yield items;
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /**
   * All items of a list that supports streaming, as they arrive: one call, whatever their number.
   *
   * @throws {ConnectionError} if the connection broke before the end, or the service is too old for streaming
   */
  async *items<P extends PathsWith<'get'>>(
    path: P,
    ...[options]: OptionalWhenEmpty<CallOf<P, 'get'>>
  ): AsyncGenerator<ItemOf<CallOf<P, 'get'>['result']>, void> {
    const headers = { accept: 'application/x-ndjson' };
    const response = await this.send('get', path, { ...(options as Options), headers });
    // A service that does not support lines returns a page.
    if (!response.headers.get('content-type')?.startsWith(headers.accept))
      throw new ConnectionError('the list did not come whole');
    for await (const line of linesOf(response)) yield JSON.parse(line);
  }

  /**
   * All messages of a feed after a cursor, without end. Reconnects when the connection breaks, and continues after the
   * last message. Throws `ApiError` for permanent errors, such as `cursor-expired`.
   */
  async *feed<Feed extends keyof FeedMessages>(
    feed: Feed,
    options?: FeedOptions,
  ): AsyncGenerator<FeedMessages[Feed], void> {
    // Loaded on demand, as most pages follow no feed.
    const { follow } = await import('./feed.ts');
    yield* follow(this, feed, options);
  }

  /** Returns the raw response, for files. A refusal is thrown as by the other methods. */
  async send(method: Method, path: string, options: Options = {}): Promise<Response> {
    const { body, signal } = options;
    const { apiKey } = this.#options;
    const token = this.#options.token?.() ?? null;
    const headers = new Headers({ accept: 'application/json, application/problem+json, */*' });
    for (const [name, value] of Object.entries(options.headers ?? {}))
      if (value !== undefined) headers.set(name, value);
    if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey}`);
    else if (token !== null) headers.set('authorization', `JWT ${token}`);
    const isFile = body instanceof Blob;
    if (isFile) headers.set('content-type', body.type);
    else if (body !== undefined)
      headers.set('content-type', method === 'patch' ? 'application/merge-patch+json' : 'application/json');
    const response = await this.#fetchRepeatedly(`${this.#options.baseUrl ?? ''}${withParameters(path, options)}`, {
      method: method.toUpperCase(),
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    if (response.ok) return response;
    const error = await errorOf(response);
    this.#options.onError?.(error);
    throw error;
  }

  async #fetchRepeatedly(url: string, init: RequestInit): Promise<Response> {
    for (;;) {
      let response: Response;
      try {
        response = await this.#fetch(url, init);
      } catch (cause) {
        if (init.signal?.aborted) throw cause;
        throw new ConnectionError('the service was not reached', { cause });
      }
      const seconds = secondsToWait(response);
      const isLimited = response.status === 429 && init.method === 'GET' && seconds !== null;
      if (!isLimited || !this.#options.onLimit?.(seconds)) return response;
      await response.body?.cancel();
      await wait(seconds * 1000, init.signal);
    }
  }

  async #json<T>(method: Method, path: string, options: Options | undefined): Promise<T> {
    const response = await this.send(method, path, options);
    if (response.status === 204) return undefined as T;
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    return (isJson ? await response.json() : await response.blob()) as T;
  }
}

function withParameters(path: string, { path: values = {}, query = {} }: Options): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new TypeError(`${path} needs "${name}"`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function secondsToWait(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

/** @throws what `signal` was aborted with, as soon as it is */
async function wait(delayMs: number, signal: AbortSignal | null | undefined): Promise<void> {
  let end = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, delayMs);
      end = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end);
    });
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const retryAfterSeconds = secondsToWait(response);
  const problem = (await response.json().catch(() => null)) as Problem | null;
  const { status, statusText } = response;
  if (typeof problem?.detail === 'string') return new ApiError({ ...problem, status }, retryAfterSeconds);
  // A proxy in front of the service answers with pages of its own.
  const type = status >= 500 ? 'urn:outrider:problem:unavailable' : 'urn:outrider:problem:invalid-request';
  const title = statusText === '' ? `Status ${status}` : statusText;
  return new ApiError(
    { type, title, status, detail: `the answer was ${status} without an explanation` },
    retryAfterSeconds,
  );
}
