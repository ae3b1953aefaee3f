import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventReport, VideoFiles } from '@outrider/access';
import { openKeys, type SigningKeys, Tokens } from '@outrider/auth';
import type { Directory, FleetEvent, QuotaLimits, Role, User } from '@outrider/domain';
import { type Files, openFolder } from '@outrider/files';
import { PLAIN_GEOCODER } from '@outrider/geocoder/testing';
import { MemoryHub } from '@outrider/hub';
import type { DeadLetter } from '@outrider/log';
import { followRegistry, type Registry, type UserFields } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import type { ReportArchive, TrackReport } from '@outrider/reports';
import { EMPTY_ARCHIVE, withoutTurns } from '@outrider/reports/empty-archive';
import { createMetricsAccess, Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
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

/** What each line of an answer holds. */
export function linesIn({ body }: Answer): unknown[] {
  return String(body)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

export interface CallOptions {
  jwt?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Remote address of the connection. */
  from?: string;
}

/** A log in which the rules put one record aside, and that has nothing else. */
export const ONE_DEAD_LETTER = {
  endOffsets: async () => new Map([[0, 1]]),
  async *read({ name }: { name: string }) {
    if (name === 'telemetry-dead') yield { records: [{ value: DEAD_LETTER }] };
  },
  bounds: async () => new Map([[0, { earliest: 0, end: 0 }]]),
  locate: async () => ({ offset: 0, identity: 'empty', discontinuity: null }),
  offsetsAt: async () => new Map([[0, 0]]),
  writtenAtMs: async () => null,
} as unknown as NonNullable<ApiParts['log']>;
const DEAD_LETTER: DeadLetter = {
  topic: 'telemetry',
  partition: 0,
  offset: 4,
  reader: 'rules',
  reason: 'RangeError: Invalid time value',
  diedAtMs: Date.UTC(2026, 0, 15),
  record: Buffer.from('put aside'),
  replayedAtMs: null,
};

interface TestArchives {
  trackReport: TrackReport;
  reportArchive: ReportArchive;
  eventReport: EventReport;
}
/** Parts of the API, with archives that have no turns. */
export type TestParts = Partial<Omit<ApiParts, keyof TestArchives> & TestArchives>;

function partsOf({ trackReport, reportArchive, eventReport, ...more }: TestParts): Partial<ApiParts> {
  return {
    ...more,
    ...(trackReport && { trackReport: withoutTurns(trackReport) }),
    ...(reportArchive && { reportArchive: withoutTurns(reportArchive) }),
    ...(eventReport && { eventReport: withoutTurns(eventReport) }),
  };
}

/** The API on a registry of its own, with a clock that stands still. */
export class World {
  nowMs = Date.UTC(2026, 0, 15, 12);
  readonly registry: Registry;
  readonly directory: Directory;
  readonly hub: MemoryHub;
  readonly config: ApiConfig;
  readonly reportFiles: Files;
  readonly serviceFiles: Files;
  readonly keys: SigningKeys;
  readonly tokens: Tokens;
  api: Api;
  /** The API as another process makes it, on the same registry. */
  readonly remake: (more: TestParts) => Api;
  /** What the archive was asked. */
  readonly tracksAsked: Parameters<TrackReport['track']>[0][] = [];
  fixesBefore: Awaited<ReturnType<TrackReport['fixesBefore']>> = [];
  trackAnswer: Awaited<ReturnType<TrackReport['track']>> = { positions: [], next: null };
  rejections: Awaited<ReturnType<ReportArchive['rejections']>> = [];
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
      serviceFiles: Files;
    },
    more: TestParts,
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
    this.serviceFiles = parts.serviceFiles;
    clock.now = () => this.nowMs;
    const log = (...line: unknown[]) => {
      this.logged.push(line);
    };
    const sources: ApiParts = {
      ...parts,
      config: {
        sessionTtlSeconds: 30 * 86_400,
        limits: { failedLoginsPerMinute: 10, authorizedPerMinute: 180, unauthorizedPerMinute: 60, blockSeconds: 60 },
        trustedProxies: [],
        allowPrivateWebhooks: false,
        push: { hosts: ['push.example.com'], keys: null },
        video: { taskHours: 24, retentionDays: 30, quotaBytes: 1e9 },
        commands: {
          maxSpeedKmh: 20,
          positionMaxAgeMs: 120_000,
          defaultExpirySeconds: 86_400,
          maxExpirySeconds: 604_800,
          perMinute: 1000,
        },
        share: { maxDays: 30, viewsPerMinute: 300 },
        history: { importsPerMinute: 3 },
        reports: { retentionDays: 7 },
        erasure: { graceMs: 7 * 86_400_000 },
        ...config,
      },
      trackReport: withoutTurns<TrackReport>({
        track: async (question) => {
          this.tracksAsked.push(question);
          return this.trackAnswer;
        },
        fixesBefore: async () => this.fixesBefore,
      }),
      eventReport: withoutTurns<EventReport>({
        recentEvents: async (question) => {
          this.eventsAsked.push(question);
          return this.eventsAnswer;
        },
        firstEventMs: async () => this.eventsAnswer.at(-1)?.startedAtMs ?? null,
      }),
      historyArchive: { countBefore: async () => ({ positions: 0, events: 0 }) },
      geocoder: PLAIN_GEOCODER,
      reportArchive: withoutTurns({ ...EMPTY_ARCHIVE, rejections: async () => [...this.rejections] }),
      checks: {},
      log: ONE_DEAD_LETTER,
      metricsAccess: createMetricsAccess(async () => '', null),
      logger: { debug: log, info: log, warn: log, error: log, fatal: log },
      metrics: new Metrics(),
      clock: clockAt(() => this.nowMs),
      wait: async (ms) => {
        this.waited.push(ms);
      },
      ...partsOf(more),
    };
    this.config = sources.config;
    this.remake = (others) => createApi({ ...sources, ...partsOf(others) });
    this.api = this.remake({});
  }

  /**
   * @param quotas default limits of accounts
   */
  static async open(config: Partial<ApiConfig> = {}, more: TestParts = {}, quotas?: QuotaLimits): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), 'api-'));
    const clock = { now: () => 0 };
    const now = () => clock.now();
    const registry = await openTestRegistry({
      path: join(folder, 'registry.sqlite'),
      now,
      ...(quotas && { quotas }),
    });
    const { directory } = await followRegistry(registry);
    const keys = await openKeys(join(folder, 'keys.json'), { tokenSeconds: 3600, sessionSeconds: 30 * 86_400 }, now);
    const tokens = new Tokens({
      keys,
      ttlSeconds: 3600,
      refreshExpiredSeconds: 86_400,
      now,
      sessionIsLive: async (id) => (await registry.sessions.get(id)) !== null,
      apiKey: (id) => registry.apiKeys.stored(id),
    });
    const videoFiles = await openFolder(join(folder, 'video'));
    const reportFiles = await openFolder(join(folder, 'reports'));
    const serviceFiles = await openFolder(join(folder, 'services'));
    const parts = { registry, directory, keys, tokens, hub: new MemoryHub(), videoFiles, reportFiles, serviceFiles };
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
    return (await this.tokens.issue(user.id, session.id, 0)).jwt;
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
