import {
  createApi,
  createHousekeeping,
  createRelay,
  createReportRunner,
  createReportScheduler,
  listenApi,
} from '@outrider/api';
import { createArchiver } from '@outrider/archiver';
import { openKeys, Tokens, watchKeys } from '@outrider/auth';
import { createEmailChannel, createWebhookChannel } from '@outrider/channels';
import type { ProtocolName } from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import { openSqliteCheckpoints } from '@outrider/log';
import { createDeliveries, createNotifications, createNotifier, createReportMail } from '@outrider/notifier';
import { followRegistry, openRegistry, type Registry } from '@outrider/registry';
import { createRecalculator } from '@outrider/rules';
import { type Config, Lifecycle, type Logger, Registry as Metrics, mergedMetrics, snapshotOf } from '@outrider/runtime';
import { createJt1078Driver, createStreamDriver, createVideo } from '@outrider/video';
import { openWarehouse } from '@outrider/warehouse';
import type { variables } from './config.ts';
import { openDataDir } from './data-dir.ts';
import { ensureAdmin } from './first-start.ts';
import type { GatewaySettings } from './gateway-thread.ts';
import { mediaHost } from './media-host.ts';
import { SIGNING_KEYS_FILE } from './rotate-keys.ts';
import type { RulesSettings } from './rules-thread.ts';
import { type LogAddress, openFiles, openLog } from './stores.ts';
import { openTerminalSecret } from './terminal-secret.ts';
import { createServiceThread } from './threads.ts';

/** An endpoint of a webhook has to take a message in this time. */
const WEBHOOK_TIMEOUT_MS = 15_000;
const WEBHOOK_MAX_RESPONSE_BYTES = 64 * 1024;
/** How long a video terminal may take to answer, and how long a stream may bring nothing. */
const VIDEO_ANSWER_MS = 15_000;
const VIDEO_STALL_MS = 30_000;
/** A worker that died gives its video tasks free after this. */
const VIDEO_LEASE_MS = 30_000;
const VIDEO_POLL_MS = 1000;
const BYTES_PER_MB = 1_000_000;

/** A service that runs, as its command line sees it. */
export interface Outrider {
  /** Ports that are listened on. */
  ports: { http: number; video: number } & Partial<Record<ProtocolName, number>>;
  /** The operator's password where one was made up at this start: it is told this once. */
  generatedPassword: string | null;
  registry: Registry;
  /** Rejects when a part fails; never resolves. */
  failed: Promise<never>;
  /** Takes no more packets, writes down everything that was taken, and lets go of all. */
  stop(): Promise<void>;
}

/**
 * The whole service in one process, in the order in which data needs its parts: stores, then what reads the log, then
 * what lets people in, and the terminals last. It stops the other way round.
 *
 * @throws {DataDirError} when the folder can't be used
 * @throws {Error} when a port is in use or a store can't be opened; what had started is stopped again
 */
export async function startOutrider(config: Config<typeof variables>, diary: Logger): Promise<Outrider> {
  const dataDir = openDataDir(config.DATA_DIR);
  const life = new Lifecycle(diary);
  const metrics = new Metrics();
  const now = Date.now;
  const part = (name: string) => diary.child({ part: name });

  try {
    life.own('data folder', () => dataDir.release());

    const registry = await openRegistry(
      config.DATABASE_URL === null ? { path: dataDir.file('registry.sqlite') } : { url: config.DATABASE_URL },
    );
    life.own('registry', () => registry.close());
    const generatedPassword = await ensureAdmin(registry, config.ADMIN_PASSWORD);

    const logAddress: LogAddress = {
      folder: dataDir.path,
      brokers: config.KAFKA_BROKERS,
      retentionHours: config.TELEMETRY_RETENTION_HOURS,
      retentionMb: config.TELEMETRY_RETENTION_MB,
    };
    const log = await openLog(logAddress, part('log'));
    life.own('log', () => log.close());
    const checkpoints = openSqliteCheckpoints({ path: dataDir.file('checkpoints.sqlite') });
    life.own('checkpoints', () => checkpoints.close());
    const warehouse = await openWarehouse(
      config.CLICKHOUSE_URL === null ? { path: dataDir.file('warehouse') } : { url: config.CLICKHOUSE_URL },
      { retentionDays: config.ARCHIVE_RETENTION_DAYS },
    );
    life.own('warehouse', () => warehouse.close());
    const videoFiles = await openFiles(dataDir.file('video'), config.S3_URL);
    const reportFiles = await openFiles(dataDir.file('reports'), config.S3_URL);
    const hub = new MemoryHub();
    life.own('hub', () => hub.close());

    // What an earlier run committed and did not tell comes into the log before anyone reads it.
    const relay = createRelay({ registry, log, diary: part('relay') });
    await life.start(relay);

    const archiver = createArchiver({
      config: { maxDelayMs: config.ARCHIVE_MS },
      log,
      checkpoints,
      warehouse,
      diary: part('archiver'),
      metrics,
      now,
    });
    await life.start(archiver);

    const threadDiary = { level: config.LOG_LEVEL, format: config.LOG_FORMAT };
    const rules = createServiceThread<RulesSettings, null>(
      'rules',
      new URL('./rules-thread.ts', import.meta.url),
      { config: { checkpointMs: config.CHECKPOINT_MS, checkpointPackets: 100_000 }, log: logAddress },
      hub,
      threadDiary,
    );
    await life.start(rules);

    const lifetimes = { tokenSeconds: config.JWT_TTL_SECONDS, sessionSeconds: config.SESSION_TTL_SECONDS };
    const keys = await openKeys(dataDir.file(SIGNING_KEYS_FILE), lifetimes);
    const unwatchKeys = watchKeys(keys, {
      onRotated: (kid) => part('auth').info({ kid }, 'another key signs from now on'),
      onError: (error) => part('auth').error({ err: error }, 'the keys could not be read again; they stay as they are'),
    });
    await life.start({ name: 'keys', start: async () => {}, stop: unwatchKeys });
    const tokens = new Tokens({
      keys,
      ttlSeconds: config.JWT_TTL_SECONDS,
      now,
      sessionIsLive: async (sessionId) => (await registry.sessions.get(sessionId)) !== null,
    });
    const gateway = createServiceThread<GatewaySettings, Partial<Record<ProtocolName, number>>>(
      'gateway',
      new URL('./gateway-thread.ts', import.meta.url),
      {
        config: {
          host: config.HOST,
          ports: {
            omnicomm: config.OMNICOMM_PORT,
            teltonika: config.TELTONIKA_PORT,
            'wialon-ips': config.WIALON_PORT,
            osmand: config.OSMAND_PORT,
            jt808: config.JT808_PORT,
          },
          maxConnections: config.MAX_TERMINAL_CONNECTIONS,
          idleTimeoutMs: config.TERMINAL_IDLE_SECONDS * 1000,
          terminalSecret: config.TERMINAL_SECRET ?? (await openTerminalSecret(dataDir.file('terminal-secret'))),
        },
        log: logAddress,
      },
      hub,
      threadDiary,
    );

    const { directory, stop: unfollow } = await followRegistry(registry);
    await life.start(
      createRecalculator({
        log,
        checkpoints,
        jobs: registry.jobs,
        history: warehouse,
        directory,
        diary: part('recalculator'),
        metrics,
        now,
      }),
    );
    life.own('definitions', unfollow);
    const jt1078 = await createJt1078Driver({
      hub,
      host: config.HOST,
      mediaHost: config.VIDEO_MEDIA_HOST ?? mediaHost(config.HOST),
      mediaPort: config.VIDEO_MEDIA_PORT,
      answerTimeoutMs: VIDEO_ANSWER_MS,
      stallTimeoutMs: VIDEO_STALL_MS,
      metrics,
      diary: part('video'),
    });
    const video = createVideo({
      config: {
        spool: dataDir.file('video-spool'),
        maxDownloads: config.VIDEO_MAX_DOWNLOADS,
        leaseMs: VIDEO_LEASE_MS,
        pollMs: VIDEO_POLL_MS,
        // A database of its own means that nobody else works at its tasks.
        isAlone: config.DATABASE_URL === null,
        retentionDays: config.VIDEO_RETENTION_DAYS,
        quotaBytes: config.VIDEO_QUOTA_MB * BYTES_PER_MB,
      },
      registry,
      directory,
      files: videoFiles,
      hub,
      drivers: [
        jt1078,
        createStreamDriver({
          ffmpeg: config.FFMPEG,
          allowPrivate: config.VIDEO_ALLOW_PRIVATE === 'yes',
          stallMs: VIDEO_STALL_MS,
        }),
      ],
      diary: part('video'),
      metrics,
      now,
      random: Math.random,
    });
    await life.start(video);

    const reports = createReportRunner({
      config: {
        retentionDays: config.REPORT_RETENTION_DAYS,
        quotaBytes: config.REPORT_QUOTA_MB * BYTES_PER_MB,
        maxFileBytes: config.REPORT_MAX_MB * BYTES_PER_MB,
      },
      registry,
      directory,
      hub,
      reportArchive: warehouse,
      files: reportFiles,
      diary: part('reports'),
      metrics,
      now,
    });
    await life.start(reports);
    await life.start(createReportScheduler({ registry, directory, diary: part('reports') }));

    const healthyOrThrow = (healthy: boolean, what: string) => {
      if (!healthy) throw new Error(what);
    };
    const api = createApi({
      config: {
        sessionTtlSeconds: config.SESSION_TTL_SECONDS,
        limits: {
          failedLoginsPerMinute: config.LIMIT_FAILED_LOGINS_PER_MINUTE,
          authorizedPerMinute: config.LIMIT_AUTHORIZED_PER_MINUTE,
          unauthorizedPerMinute: config.LIMIT_UNAUTHORIZED_PER_MINUTE,
          blockSeconds: config.BLOCK_SECONDS,
        },
        trustedProxies: config.TRUSTED_PROXIES,
        allowPrivateWebhooks: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
        video: {
          taskHours: config.VIDEO_TASK_HOURS,
          retentionDays: config.VIDEO_RETENTION_DAYS,
          quotaBytes: config.VIDEO_QUOTA_MB * BYTES_PER_MB,
        },
        reports: { retentionDays: config.REPORT_RETENTION_DAYS },
      },
      registry,
      directory,
      tokens,
      hub,
      trackReport: warehouse,
      reportArchive: warehouse,
      eventReport: warehouse,
      videoFiles,
      reportFiles,
      checks: {
        registry: () => registry.ping(),
        warehouse: () => warehouse.ping(),
        log: async () => healthyOrThrow(await gateway.healthy(), 'the log takes no packets'),
        definitions: async () => healthyOrThrow(relay.healthy, 'definitions do not reach the log'),
        rules: async () => healthyOrThrow(await rules.healthy(), 'the rules do not run'),
        archiver: async () => healthyOrThrow(archiver.healthy, 'the warehouse takes no rows'),
        video: async () => healthyOrThrow(video.healthy, 'video tasks are not worked at'),
        reports: async () => healthyOrThrow(reports.healthy, 'reports are not worked at'),
        files: () => videoFiles.ping(),
      },
      metricsText: async () =>
        mergedMetrics(await Promise.all([snapshotOf(metrics), rules.metrics(), gateway.metrics()])),
      diary: part('api'),
      metrics,
      now,
    });
    life.own('api', () => api.close());

    await life.start(
      createHousekeeping({
        config: { auditRetentionDays: config.AUDIT_RETENTION_DAYS },
        registry,
        diary: part('housekeeping'),
        now,
      }),
    );

    const email = createEmailChannel({
      smtpUrl: config.SMTP_URL,
      from: config.MAIL_FROM,
      folder: dataDir.file('mail'),
      now,
    });
    life.own('e-mail', () => email.close());
    const webhook = createWebhookChannel({
      allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE === 'yes',
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      maxResponseBytes: WEBHOOK_MAX_RESPONSE_BYTES,
      now,
    });
    life.own('webhooks', () => webhook.close());
    const deliveries = createDeliveries({
      config: {},
      registry,
      email,
      webhook,
      diary: part('deliveries'),
      metrics,
      now,
      random: Math.random,
    });
    await life.start(deliveries);
    await life.start(
      createReportMail({
        config: { maxAttachmentBytes: config.REPORT_MAIL_MB * BYTES_PER_MB },
        registry,
        directory,
        files: reportFiles,
        email,
        diary: part('reports'),
        metrics,
        now,
        random: Math.random,
      }),
    );
    await life.start(
      createNotifications({
        config: { retentionDays: config.NOTIFICATION_RETENTION_DAYS },
        log,
        hub,
        inbox: registry.notifications,
        onSaved: () => deliveries.wake(),
        diary: part('notifications'),
        metrics,
        now,
      }),
    );
    const notifier = createNotifier({
      config: { maxConnections: config.MAX_LIVE_CONNECTIONS },
      log,
      hub,
      inbox: registry.notifications,
      verify: (token) => tokens.verify(token),
      cookieSession: (request) => api.cookieSession(request),
      liveSessions: (ids) => registry.sessions.liveAmong(ids),
      diary: part('notifier'),
      metrics,
      now,
    });

    // People may look from here on; terminals come last, when all that their packets need is there.
    const http = await listenApi(api, { host: config.HOST, port: config.PORT });
    life.own('http', () => http.close());
    // Started after the server and so stopped before it: a server does not close while WebSockets are open.
    await life.start(notifier);
    http.server.on('upgrade', (request, socket, head) => {
      if (request.url?.split('?', 1)[0] === '/live') notifier.upgrade(request, socket, head);
      else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    });
    await life.start(gateway);

    return {
      ports: { http: http.port, video: jt1078.mediaPort, ...gateway.told() },
      generatedPassword,
      registry,
      failed: life.failed,
      stop: () => life.stop(),
    };
  } catch (error) {
    // What does not stop cleanly is told in the diary; what people need to know is why it did not start.
    await life.stop().catch(() => {});
    throw error;
  }
}
