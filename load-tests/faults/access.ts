import { callAt, type Instance, logInAt } from '../../services/outrider/src/distributed.fixture.ts';

const REQUEST_WITHIN_MS = 5000;

/** The operator at the REST API: logs in anew where the token is not good any more. */
export class Access {
  readonly #instance: Instance;
  #jwt: Promise<string> | null = null;

  constructor(port: number) {
    this.#instance = { ports: { http: port } } as unknown as Instance;
  }

  /** A token. Concurrent calls share one login. */
  token(): Promise<string> {
    this.#jwt ??= within(logInAt(this.#instance)).catch((error) => {
      this.#jwt = null;
      throw error;
    });
    return this.#jwt;
  }

  /** The next call logs in again. */
  forget(): void {
    this.#jwt = null;
  }

  /** What a path answers. @throws {Error} as {@link call} does */
  async bytes(path: string): Promise<Uint8Array> {
    const { ports } = this.#instance;
    const headers = { Authorization: `JWT ${await this.token()}` };
    const signal = AbortSignal.timeout(REQUEST_WITHIN_MS);
    const answer = await fetch(`http://127.0.0.1:${ports.http}${path}`, { headers, signal });
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return answer.bytes();
  }

  /** @throws {Error} on any answer that is not 2xx, and when none comes */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    try {
      return await within(callAt<T>(this.#instance, await this.token(), method, path, body));
    } catch (error) {
      if (/: 401 /.test((error as Error).message)) this.forget();
      throw error;
    }
  }
}

function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${REQUEST_WITHIN_MS} ms`)), REQUEST_WITHIN_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
