import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ApiError, Client } from '@outrider/client';
import { CommandError, type Terminal } from './command.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
/** Tokens with a shorter remaining lifetime are renewed before use. */
const RENEW_BEFORE_MS = 60_000;
/** Longer rate limits are reported instead of waited for. */
const MAX_WAIT_SECONDS = 120;

interface Login {
  url: string;
  jwt: string;
  refresh: string;
  expiresAt: string;
}

/** The service and the credentials: from OUTRIDER_URL and OUTRIDER_KEY, otherwise from the saved login. */
export class Session {
  readonly #terminal: Terminal;
  readonly #file: string;
  #login: Login | null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    const { env } = terminal;
    this.#file =
      env.OUTRIDER_LOGIN_FILE ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'outrider/login.json');
    this.#login = readLogin(this.#file);
  }

  get url(): string {
    return (this.#terminal.env.OUTRIDER_URL ?? this.#login?.url ?? DEFAULT_URL).replace(/\/$/, '');
  }

  get apiKey(): string | null {
    return this.#terminal.env.OUTRIDER_KEY ?? null;
  }

  /** The token of the login. */
  get token(): string | null {
    return this.#login?.url === this.url ? this.#login.jwt : null;
  }

  /** @throws {CommandError} when not logged in */
  async client(): Promise<Client> {
    const { apiKey } = this;
    if (apiKey === null) {
      if (this.token === null) throw new CommandError(`log in first: outrider login (at ${this.url})`);
      if (Date.parse(this.#login?.expiresAt ?? '') - Date.now() < RENEW_BEFORE_MS) await this.renew();
    }
    return this.#client(apiKey);
  }

  /** Logs in and saves the login in a file that only its owner can read. */
  async logIn(login: string, password: string): Promise<void> {
    const token = await this.#client(null, false).post('/auth/login', {
      query: { jwt: '1' },
      body: { login, password },
    });
    if (token === undefined) throw new CommandError('the service gave no token');
    this.#keep({ url: this.url, ...token });
  }

  /** Gets a new token by the saved login's refresh token. */
  async renew(): Promise<void> {
    const kept = this.#login;
    if (kept === null) throw new CommandError('log in first: outrider login');
    try {
      const headers = { 'Authorization-Refresh': `JWT ${kept.refresh}` };
      this.#keep({ url: kept.url, ...(await this.#client(null, false).post('/auth/refresh', { headers })) });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw new CommandError('the login has ended: outrider login');
    }
  }

  /** Ends the session and deletes the saved login. */
  async logOut(): Promise<void> {
    if (this.token !== null)
      await this.#client(null)
        .post('/auth/logout')
        .catch((error: unknown) => {
          if (!(error instanceof ApiError) || error.status !== 401) throw error;
        });
    rmSync(this.#file, { force: true });
    this.#login = null;
  }

  #keep(login: Login): void {
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(this.#file, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
    // An existing file keeps its mode when it is written.
    chmodSync(this.#file, 0o600);
    this.#login = login;
  }

  #client(apiKey: string | null, isAuthorized = true): Client {
    return new Client({
      baseUrl: this.url,
      ...(apiKey === null ? {} : { apiKey }),
      token: () => (isAuthorized ? this.token : null),
      onLimit: (seconds) => {
        if (seconds > MAX_WAIT_SECONDS) return false;
        this.#terminal.note(`over the limit of calls: waiting for ${seconds} s`);
        return true;
      },
    });
  }
}

function readLogin(file: string): Login | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Login;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError(`${file} can't be read: ${(error as Error).message}`);
  }
}
