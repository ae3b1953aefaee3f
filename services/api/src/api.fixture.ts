import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventReport, VideoFiles } from '@outrider/access';
import { openKeys, type SigningKeys, Tokens } from '@outrider/auth';
import type { Directory, FleetEvent, QuotaLimits, Role, User } from '@outrider/domain';
import { type Files, openFolder } from '@outrider/files';
import { MemoryHub } from '@outrider/hub';
import { followRegistry, openRegistry, type Registry, type UserFields } from '@outrider/registry';
import type { TrackReport } from '@outrider/reports';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import { createMetricsAccess, Registry as Metrics } from '@outrider/runtime';
import { type Api, type ApiConfig, type ApiParts, createApi } from './api.ts';
import { holdAgainstDocument } from './described-answer.fixture.ts';

export const PASSWORD = 'correct horse battery staple';
export const ABSENT = '00000000-0000-7000-8000-000000000000';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what the service really answered.
type Body = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Body;
}

export interface CallOptions {
  jwt?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Remote address of the connection. */
  from?: string;
}

/** The API on a registry of its own, with a clock that stands still. */
export class World {
  nowMs = Date.UTC(2026, 0, 15, 12);
  readonly registry: Registry;
  readonly directory: Directory;
  readonly hub: MemoryHub;
  readonly reportFiles: Files;
  readonly keys: SigningKeys;
  readonly tokens: Tokens;
  readonly api: Api;
  /** What the archive was asked. */
  readonly tracksAsked: Parameters<TrackReport['track']>[0][] = [];
  fixesBefore: Awaited<ReturnType<TrackReport['fixesBefore']>> = [];
  trackAnswer: Awaited<ReturnType<TrackReport['track']>> = { positions: [], next: null };
  rejections: Awaited<ReturnType<ApiParts['reportArchive']['rejections']>> = [];
  readonly eventsAsked: Parameters<EventReport['recentEvents']>[0][] = [];
  eventsAnswer: FleetEvent[] = [];
  readonly logged: unknown[][] = [];
  /** What logins were held up for, in milliseconds. */
  readonly waited: number[] = [];
  readonly #folder: string;

  private constructor(
    folder: string,
    parts: {
      registry: Registry;
      directory: Directory;
      keys: SigningKeys;
      tokens: Tokens;
      hub: MemoryHub;
      videoFiles: VideoFiles;
      reportFiles: Files;
    },
    more: Partial<ApiParts>,
    config: Partial<ApiConfig>,
    clock: { now: () => number },
  ) {
    this.#folder = folder;
    this.registry = parts.registry;
    this.directory = parts.directory;
    this.keys = parts.keys;
    this.tokens = parts.tokens;
    this.hub = parts.hub;
    this.reportFiles = parts.reportFiles;
    clock.now = () => this.nowMs;
    const log = (...line: unknown[]) => {
      this.logged.push(line);
    };
    this.api = createApi({
      ...parts,
      config: {
        sessionTtlSeconds: 30 * 86_400,
        limits: { failedLoginsPerMinute: 10, authorizedPerMinute: 180, unauthorizedPerMinute: 60, blockSeconds: 60 },
        trustedProxies: [],
        allowPrivateWebhooks: false,
        video: { taskHours: 24, retentionDays: 30, quotaBytes: 1e9 },
        reports: { retentionDays: 7 },
        erasure: { graceMs: 7 * 86_400_000 },
        ...config,
      },
      trackReport: {
        track: async (question) => {
          this.tracksAsked.push(question);
          return this.trackAnswer;
        },
        fixesBefore: async () => this.fixesBefore,
      },
      eventReport: {
        recentEvents: async (question) => {
          this.eventsAsked.push(question);
          return this.eventsAnswer;
        },
      },
      reportArchive: { ...EMPTY_ARCHIVE, rejections: async () => [...this.rejections] },
      checks: {},
      metricsAccess: createMetricsAccess(async () => '', null),
      logger: { debug: log, info: log, warn: log, error: log, fatal: log },
      metrics: new Metrics(),
      now: () => this.nowMs,
      wait: async (ms) => {
        this.waited.push(ms);
      },
      ...more,
    });
  }

  /**
   * @param quotas default limits of accounts
   * @param database SQLite file of the registry, in place of one in a folder of its own; `:memory:` for speed
   */
  static async open(
    config: Partial<ApiConfig> = {},
    more: Partial<ApiParts> = {},
    database?: ':memory:',
    quotas?: QuotaLimits,
  ): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'api-'));
    const clock = { now: () => 0 };
    const now = () => clock.now();
    const registry = await openRegistry({
      path: database ?? join(folder, 'registry.sqlite'),
      now,
      ...(quotas && { quotas }),
    });
    const { directory } = await followRegistry(registry);
    const keys = await openKeys(join(folder, 'keys.json'), { tokenSeconds: 3600, sessionSeconds: 30 * 86_400 }, now);
    const tokens = new Tokens({
      keys,
      ttlSeconds: 3600,
      now,
      sessionIsLive: async (id) => (await registry.sessions.get(id)) !== null,
    });
    const videoFiles = await openFolder(join(folder, 'video'));
    const reportFiles = await openFolder(join(folder, 'reports'));
    const parts = { registry, directory, keys, tokens, hub: new MemoryHub(), videoFiles, reportFiles };
    return new World(folder, parts, more, config, clock);
  }

  async close(): Promise<void> {
    this.api.close();
    await this.registry.close();
    await rm(this.#folder, { recursive: true });
  }

  addUser(login: string, role: Role = 'user', more: Partial<UserFields> = {}): Promise<User> {
    return this.registry.users.create(
      { login, name: login, role, dealerId: null, blocked: false, apiAccess: true, groupIds: [], ...more },
      PASSWORD,
    );
  }

  /** A token of a new session, past the login. */
  async tokenOf(user: User): Promise<string> {
    const session = await this.registry.sessions.create(user.id, 30 * 86_400_000, '192.0.2.1', 'test');
    return (await this.tokens.issue(user.id, session.id)).jwt;
  }

  /** An account and a token of it. */
  async member(
    login: string,
    role: Role = 'user',
    more: Partial<UserFields> = {},
  ): Promise<{ user: User; jwt: string }> {
    const user = await this.addUser(login, role, more);
    return { user, jwt: await this.tokenOf(user) };
  }

  login(login: string, password: string, options: CallOptions = {}): Promise<Answer> {
    return this.call('POST', '/auth/login?jwt=1', { ...options, body: { login, password } });
  }

  /** Makes a call, and holds its answer against what the document says of it. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { jwt, body, headers = {}, from = '192.0.2.1' } = options;
    const isText = typeof body === 'string';
    const request = new Request(`http://outrider.test${path}`, {
      method,
      headers: {
        ...(jwt === undefined ? {} : { authorization: `JWT ${jwt}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    const response = await this.api.fetch(request, { incoming: { socket: { remoteAddress: from } } as never });
    const text = await response.text();
    const isJson = /[/+]json(?:;|$)/.test(response.headers.get('content-type') ?? '');
    const { status, headers: answered } = response;
    holdAgainstDocument(method, path.split('?', 1)[0] ?? '', { status, headers: answered, text });
    return { status, headers: answered, body: isJson && text !== '' ? JSON.parse(text) : text };
  }
}
