import { ApiError, Client } from '@outrider/client';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { StartError } from '@outrider/runtime';

/** The service into which data is imported through its REST API. */
export interface Target {
  client: Client;
  /**
   * Makes a call and repeats it while the service is rate-limiting.
   *
   * @throws {ApiError} for any other refusal
   */
  call<T>(make: () => Promise<T>): Promise<T>;
}

export interface TargetOptions {
  url: string;
  /** An API key with the scopes read and write. */
  key: string | undefined;
  login: string | undefined;
  password: string | undefined;
}

/** Renewal interval: tokens are valid for an hour, and some imports take longer. */
const TOKEN_FOR_MS = 30 * 60_000;
const MAX_WAIT_SECONDS = 300;

/** @throws {StartError} when the address or the credentials are missing */
export async function openTarget({ url, key, login, password }: TargetOptions): Promise<Target> {
  if (!URL.canParse(url)) throw new StartError(`--to must be the address of the service, not ${JSON.stringify(url)}`);
  const baseUrl = url.replace(/\/+$/, '');
  if (key !== undefined) return { client: new Client({ baseUrl, apiKey: key }), call: patient(async () => {}) };
  if (login === undefined || password === undefined)
    throw new StartError('give an API key (--key or OUTRIDER_KEY), or --login with OUTRIDER_PASSWORD');
  let token = '';
  let issuedAtMs = Number.NEGATIVE_INFINITY;
  const client = new Client({ baseUrl, token: () => token });
  const renew = async () => {
    if (SYSTEM_CLOCK.now() - issuedAtMs < TOKEN_FOR_MS) return;
    const anonymous = new Client({ baseUrl });
    const answer = await anonymous.post('/auth/login', { query: { jwt: '1' }, body: { login, password } });
    token = (answer as { jwt: string }).jwt;
    issuedAtMs = SYSTEM_CLOCK.now();
  };
  return { client, call: patient(renew) };
}

function patient(prepare: () => Promise<void>) {
  return async <T>(make: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        await prepare();
        return await make();
      } catch (error) {
        const seconds = error instanceof ApiError ? error.retryAfterSeconds : null;
        const isPassing = error instanceof ApiError && (error.status === 429 || error.status === 503);
        if (!isPassing || seconds === null || seconds > MAX_WAIT_SECONDS) throw error;
        await SYSTEM_CLOCK.sleep(seconds * 1000);
      }
    }
  };
}
