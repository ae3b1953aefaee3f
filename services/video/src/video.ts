import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Directory,
  isFinal,
  isUuid,
  Turns,
  VIDEO_TASK_CHANNEL,
  VIDEO_TASK_STATES,
  type VideoProfile,
  type VideoProfileId,
  type VideoProtocol,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskNews,
} from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub, Unsubscribe } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import {
  Counter,
  Gauge,
  inSpan,
  type Logger,
  type Registry as Metrics,
  NO_TRACING,
  type Part,
  type Tracing,
} from '@outrider/runtime';
import type { VideoDriver, VideoSource } from './driver.ts';
import { Job } from './job.ts';
import { VideoRetention, type VideoRetentionConfig } from './video-retention.ts';

export * from './driver.ts';
export { type OpenDrivers, openDrivers } from './drivers.ts';
export { videoConfigOf, videoVariables } from './settings.ts';
export { fileIdOf } from './video-retention.ts';

export interface VideoConfig extends VideoRetentionConfig {
  /** Folder of files that are not finished, on a disk of this machine; made where none exists. */
  spool: string;
  /** Fetched at a time, over all terminals. */
  maxDownloads: number;
  /** A worker that died gives its task free after this; longer than any pause of a worker that lives. */
  leaseMs: number;
  /** How often it is looked for what nobody notified of. */
  pollMs: number;
  /** No other process works at these tasks: what is leased at the start was leased by one that died. */
  isAlone: boolean;
}

export interface VideoParts {
  config: VideoConfig;
  registry: Registry;
  /** Everything defined, as it is in force. */
  directory: Directory;
  files: Files;
  hub: Hub;
  drivers: readonly VideoDriver[];
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  now(): number;
  random(): number;
}

export interface Video extends Part {
  /** False when tasks could not be asked for lately. */
  readonly healthy: boolean;
}

const TIDY_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;
const PRESENCE_EVERY_MS = 5000;
const EXPIRED_AT_ONCE = 100;

/**
 * Fetches what was asked for: takes tasks from the registry, has their terminals play, and puts the files where the API
 * finds them. What it knows is in the registry: it may die at any moment, and its successor goes on.
 */
export function createVideo(parts: VideoParts): Video {
  const { config, registry, directory, files, hub, logger, metrics, now, tracing = NO_TRACING } = parts;
  const tasks = registry.videoTasks;
  const retention = new VideoRetention(files, registry, config, logger, now);
  const drivers = new Map<VideoProtocol, VideoDriver>(parts.drivers.map((driver) => [driver.protocol, driver]));
  const turns = new Turns();
  const jobs = new Map<VideoTaskId, { job: Job; ended: Promise<void> }>();
  const online = new Map<VideoProfileId, boolean>();
  const leaves: (() => void)[] = [];
  let leaveHub: Unsubscribe | null = null;
  let running: Promise<void> | null = null;
  let stopping = false;
  let healthy = true;
  let wakeUp: () => void = () => {};
  let isAwake = false;
  const dueAt = { tidy: 0, sweep: 0, presence: 0 };

  const finished = new Counter({
    name: 'outrider_video_tasks_finished_total',
    help: 'Video tasks that are done, failed or were cancelled',
    labelNames: ['state', 'reason'],
    registers: [metrics],
  });
  const fetchedBytes = new Counter({
    name: 'outrider_video_fetched_bytes_total',
    help: 'Bytes of video that came from terminals',
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_video_downloads',
    help: 'Fragments that are being fetched',
    registers: [metrics],
    collect() {
      this.set(jobs.size);
    },
  });
  new Gauge({
    name: 'outrider_video_tasks',
    help: 'Video tasks that are not finished',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      // A database that is away is reported by its own check.
      const counts = await tasks.counts().catch(() => null);
      if (counts === null) return;
      for (const state of VIDEO_TASK_STATES) if (!isFinal(state)) this.set({ state }, counts.get(state) ?? 0);
    },
  });
  new Gauge({
    name: 'outrider_video_profiles_refused',
    help: 'Video profiles whose address is the terminal of another vehicle: nothing is fetched by them',
    registers: [metrics],
    collect() {
      this.set([...directory.videoProfiles.values()].filter((profile) => directory.isOfAnotherVehicle(profile)).length);
    },
  });
  const stored = new Gauge({
    name: 'outrider_video_stored_files',
    help: 'Videos in the store',
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_video_stored_bytes',
    help: 'Bytes of all videos in the store',
    registers: [metrics],
    async collect() {
      const usage = await tasks.usage().catch(() => null);
      if (usage === null) return;
      this.set(usage.bytes);
      stored.set(usage.files);
    },
  });
  for (const [name, help, value] of [
    ['outrider_video_quota_bytes', 'Bytes that all videos together may take up', config.quotaBytes],
    ['outrider_video_retention_days', 'Days that a video is kept', config.retentionDays],
  ] as const)
    new Gauge({ name, help, registers: [metrics] }).set(value);

  function wake(): void {
    isAwake = true;
    wakeUp();
  }

  function report(task: VideoTask): void {
    if (isFinal(task.state)) finished.inc({ state: task.state, reason: task.reason ?? '' });
    const news: VideoTaskNews = { vehicleId: task.vehicleId, profileId: task.profileId, task };
    hub.publish(VIDEO_TASK_CHANNEL, JSON.stringify(news)).catch((error) => {
      logger.warn({ err: error, task: task.id }, 'cannot publish a change of a video task');
    });
  }

  function onNews(text: string): void {
    const { task } = JSON.parse(text) as VideoTaskNews;
    if (task.state === 'new') wake();
    if (task.state === 'cancelled' || task.state === 'failed') jobs.get(task.id)?.job.drop();
  }

  function begin(leased: Awaited<ReturnType<typeof tasks.lease>>[number], driver: VideoDriver): void {
    const job = new Job(leased, {
      tasks,
      profiles: registry.videoProfiles,
      driver,
      retention,
      spool: config.spool,
      leaseMs: config.leaseMs,
      onChange: report,
      onBytes: (bytes) => fetchedBytes.inc(bytes),
      logger,
      now,
      random: parts.random,
    });
    const { id, vehicleId, channel } = leased.task;
    const facts = { 'outrider.task.id': id, 'outrider.vehicle.id': vehicleId, 'outrider.channel': channel };
    const span = tracing.begin('video task', { facts });
    const ended = inSpan(span, async () => {
      await job.run();
      const { state, reason } = job.task;
      span.note({ 'outrider.task.state': state });
      if (state !== 'done' && reason !== null) span.fail(reason);
    })
      .catch((error) => {
        // The registry could not be reported: the lease runs out, and the task is taken again.
        logger.error({ err: error, task: leased.task.id }, 'cannot save the end of a video task');
      })
      .finally(() => {
        jobs.delete(leased.task.id);
        turns.end(leased.owner);
        wake();
      });
    jobs.set(leased.task.id, { job, ended });
  }

  async function takeWork(): Promise<void> {
    const space = config.maxDownloads - jobs.size;
    if (space <= 0) return;
    for (const leased of await tasks.lease(space, config.leaseMs, turns, Math.ceil((config.maxDownloads * 3) / 4))) {
      const driver = drivers.get(leased.profile.protocol);
      const before = jobs.get(leased.task.id);
      if (driver !== undefined && before !== undefined) {
        // An attempt that is over but for its tidying up, or that lost its lease: its file is in the way.
        before.job.drop();
        void before.ended.then(() => {
          if (!stopping) begin(leased, driver);
          else turns.end(leased.owner);
        });
      } else if (driver !== undefined) begin(leased, driver);
      else {
        turns.end(leased.owner);
        const detail = `nothing here speaks ${leased.profile.protocol}`;
        const failed = await tasks.step(leased, { state: 'failed', reason: 'unreachable', detail });
        if (failed) report(failed);
      }
    }
  }

  async function setOnline(profile: VideoProfile, isOnline: boolean): Promise<void> {
    if ((online.get(profile.id) ?? false) !== isOnline || !online.has(profile.id)) {
      online.set(profile.id, isOnline);
      await registry.videoProfiles.setPresence(profile.id, isOnline);
      logger.debug({ profile: profile.id, online: isOnline }, 'a video terminal');
    }
    if (isOnline) {
      await tasks.wake(profile.id);
      wake();
    }
  }

  function onPresence(protocol: VideoProtocol, address: string, isOnline: boolean): void {
    const profile = directory.videoProfileOfAddress(protocol, address);
    if (profile === undefined || directory.isOfAnotherVehicle(profile)) return;
    setOnline(profile, isOnline).catch((error) => {
      // What is only waited for is looked at again by itself.
      online.delete(profile.id);
      logger.error({ err: error, profile: profile.id }, 'cannot save the state of a video terminal');
    });
  }

  /** Hints may be lost: who is there is asked for, now and then. */
  async function lookAround(): Promise<void> {
    const waiting = new Set((await tasks.waitingForTerminal()).map(({ id }) => id));
    for (const profile of directory.videoProfiles.values()) {
      const driver = drivers.get(profile.protocol);
      if (driver === undefined) continue;
      const isOnline = !directory.isOfAnotherVehicle(profile) && (await driver.online(sourceOf(profile)));
      if (online.get(profile.id) !== isOnline || (isOnline && waiting.has(profile.id)))
        await setOnline(profile, isOnline);
    }
    for (const id of online.keys()) if (!directory.videoProfiles.has(id)) online.delete(id);
  }

  async function every(what: keyof typeof dueAt, periodMs: number, work: () => Promise<void>): Promise<void> {
    if (now() < dueAt[what]) return;
    dueAt[what] = now() + periodMs;
    await work();
  }

  async function turn(): Promise<void> {
    await every('presence', PRESENCE_EVERY_MS, lookAround);
    for (const task of await tasks.expire(EXPIRED_AT_ONCE)) report(task);
    await takeWork();
    await every('tidy', TIDY_EVERY_MS, () => retention.tidy());
    await every('sweep', SWEEP_EVERY_MS, () => retention.sweep());
  }

  async function run(): Promise<void> {
    while (!stopping) {
      isAwake = false;
      try {
        await turn();
        healthy = true;
      } catch (error) {
        healthy = false;
        logger.error({ err: error }, 'video tasks could not be worked at; trying again');
      }
      if (stopping || (isAwake && healthy)) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, config.pollMs);
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** What lies in the spool of tasks that are finished, or unknown, is of nobody. */
  async function cleanSpool(): Promise<void> {
    await mkdir(config.spool, { recursive: true });
    for (const name of await readdir(config.spool)) {
      const id = name.replace(/\.mp4$/, '');
      const task = isUuid(id) ? await tasks.get(id as VideoTaskId) : null;
      if (task === null || isFinal(task.state)) await rm(join(config.spool, name), { recursive: true, force: true });
    }
  }

  return {
    name: 'video',
    get healthy() {
      return healthy;
    },
    async start() {
      await cleanSpool();
      if (config.isAlone) {
        await tasks.releaseLeases();
        await registry.videoProfiles.forgetPresence();
      }
      for (const profile of directory.videoProfiles.values())
        if (directory.isOfAnotherVehicle(profile))
          logger.warn(
            { profile: profile.id, vehicle: profile.vehicleId },
            'the address of a video profile is the terminal of another vehicle; its tasks fail',
          );
      leaveHub = await hub.subscribe(VIDEO_TASK_CHANNEL, onNews);
      for (const driver of drivers.values())
        leaves.push(driver.onPresence((address, isOnline) => onPresence(driver.protocol, address, isOnline)));
      running = run();
    },
    async stop() {
      stopping = true;
      wakeUp();
      await running;
      for (const leave of leaves) leave();
      await leaveHub?.();
      for (const { job } of jobs.values()) job.stop();
      await Promise.all([...jobs.values()].map(({ ended }) => ended));
      for (const driver of drivers.values()) await driver.close();
    },
  };
}

function sourceOf(profile: VideoProfile): VideoSource {
  const { id, vehicleId, protocol, address, timeZone } = profile;
  return { profileId: id, vehicleId, protocol, address, timeZone };
}
