import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Clock,
  type Directory,
  isFinal,
  isUuid,
  Turns,
  VIDEO_TASK_CHANNEL,
  type VideoProtocol,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskNews,
} from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type { LeasedVideoTask, Registry } from '@outrider/registry';
import { type Logger, type Metrics, type Part, poller, type Tracing, worker } from '@outrider/runtime';
import { Attempts } from './attempts.ts';
import type { VideoDriver } from './driver.ts';
import { Presence } from './presence.ts';
import { videoMetrics } from './video-metrics.ts';
import { VideoRetention, type VideoRetentionConfig } from './video-retention.ts';

export * from './driver.ts';

export interface VideoConfig extends VideoRetentionConfig {
  /** Folder of unfinished files, on a local disk. Created if missing. */
  spool: string;
  /** Maximum of concurrent fetches, over all terminals. */
  maxDownloads: number;
  /** Lease duration; longer than any pause of a running worker. */
  leaseMs: number;
  /** Poll interval for due tasks that were not announced. */
  pollMs: number;
  /** For tests. */
  everyMs?: Partial<typeof EVERY_MS>;
  /** Whether no other process works on these tasks: then every lease at the start belongs to a crashed worker. */
  isAlone: boolean;
}

export interface VideoParts {
  config: VideoConfig;
  registry: Registry;
  /** All current definitions. */
  directory: Directory;
  files: Files;
  hub: Hub;
  drivers: readonly VideoDriver[];
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
  random(): number;
}

export interface Video extends Part {
  /** False while tasks cannot be leased. */
  readonly healthy: boolean;
}

/** Intervals of checking which terminals are connected, tidying files, and looking for stray files. */
const EVERY_MS = { presence: 5000, tidy: 60_000, sweep: 3_600_000 };
const EXPIRED_AT_ONCE = 100;

/**
 * Fetches requested videos: leases tasks from the registry, has their terminals play, and puts the files where the API
 * finds them. All its state is in the registry: after a crash, the next worker continues.
 */
export function createVideo(parts: VideoParts): Video {
  const { config, registry, directory, files, hub, logger, clock } = parts;
  const tasks = registry.videoQueue;
  const retention = new VideoRetention(files, registry, config, logger, clock.now);
  const drivers = new Map<VideoProtocol, VideoDriver>(parts.drivers.map((driver) => [driver.protocol, driver]));
  const turns = new Turns();
  const metrics = videoMetrics(parts, () => attempts.size);
  const attempts = new Attempts(parts, retention, drivers, publish, (bytes) => metrics.fetchedBytes.inc(bytes));
  const presence = new Presence({ registry, directory, drivers, logger }, () => fetching.wake());
  const unsubscribes: (() => unknown)[] = [];

  const fetching = worker<LeasedVideoTask>({
    name: 'video',
    atOnce: config.maxDownloads,
    lease: (free) => tasks.lease(free, config.leaseMs, turns, Math.ceil((config.maxDownloads * 3) / 4)),
    run: (leased, stop) => attempts.run(leased, stop).finally(() => turns.end(leased.owner)),
    facts: ({ task }) => ({ task: task.id }),
    pollMs: config.pollMs,
    logger,
    clock,
  });
  const everyMs = { ...EVERY_MS, ...config.everyMs };
  const others = [
    poller({ name: 'video presence', work: () => presence.check(), everyMs: everyMs.presence, logger, clock }),
    poller({ name: 'expired video tasks', work: expire, everyMs: config.pollMs, logger, clock }),
    poller({ name: 'video files', work: () => retention.tidy(), everyMs: everyMs.tidy, logger, clock }),
    poller({ name: 'stray video files', work: () => retention.sweep(), everyMs: everyMs.sweep, logger, clock }),
  ];

  function publish(task: VideoTask): void {
    if (isFinal(task.state)) metrics.finished.inc({ state: task.state, reason: task.reason ?? '' });
    const news: VideoTaskNews = { vehicleId: task.vehicleId, profileId: task.profileId, task };
    hub.publish(VIDEO_TASK_CHANNEL, JSON.stringify(news)).catch((error) => {
      logger.warn({ err: error, task: task.id }, 'change of a video task not published');
    });
  }

  function onNews(text: string): void {
    const { task } = JSON.parse(text) as VideoTaskNews;
    if (task.state === 'new') fetching.wake();
    if (task.state === 'cancelled' || task.state === 'failed') attempts.drop(task.id);
  }

  async function expire(): Promise<boolean> {
    const expired = await tasks.expire(EXPIRED_AT_ONCE);
    for (const task of expired) publish(task);
    return expired.length === EXPIRED_AT_ONCE;
  }

  return {
    name: fetching.name,
    get healthy() {
      return fetching.healthy;
    },
    async start() {
      await cleanSpool(config.spool, registry);
      if (config.isAlone) {
        await tasks.releaseLeases();
        await registry.videoProfiles.forgetPresence();
      }
      for (const profile of directory.videoProfiles.values())
        if (directory.isOfAnotherVehicle(profile))
          logger.warn(
            { profile: profile.id, vehicle: profile.vehicleId },
            'address of a video profile is the terminal of another vehicle; its tasks fail',
          );
      unsubscribes.push(await hub.subscribe(VIDEO_TASK_CHANNEL, onNews));
      for (const driver of drivers.values())
        unsubscribes.push(driver.onPresence((...change) => presence.report(driver.protocol, ...change)));
      for (const part of [...others, fetching]) await part.start();
    },
    async stop() {
      await Promise.all([fetching, ...others].map((part) => part.stop()));
      for (const unsubscribe of unsubscribes) await unsubscribe();
      for (const driver of drivers.values()) await driver.close();
    },
  };
}

/** Removes spooled files of tasks that are finished or unknown. */
async function cleanSpool(spool: string, { videoTasks }: Pick<Registry, 'videoTasks'>): Promise<void> {
  await mkdir(spool, { recursive: true });
  for (const name of await readdir(spool)) {
    const id = name.replace(/\.mp4$/, '');
    const task = isUuid(id) ? await videoTasks.get(id as VideoTaskId) : null;
    if (task === null || isFinal(task.state)) await rm(join(spool, name), { recursive: true, force: true });
  }
}
