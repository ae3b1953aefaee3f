import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type {
  Directory,
  UserId,
  VehicleId,
  VideoProfile,
  VideoTask,
  VideoTaskId,
  VideoTaskNews,
  VideoTaskState,
} from '@outrider/domain';
import { VIDEO_TASK_CHANNEL } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { type Files, openFolder } from '@outrider/files';
import { MemoryHub } from '@outrider/hub';
import { followRegistry, type Registry, type VideoProfileFields } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { Metrics } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { expect, vi } from 'vitest';
import { FakeTerminals } from './terminals.fixture.ts';
import { createVideo, type Video, type VideoConfig } from './video.ts';

export const WAIT = { timeout: 60_000, interval: 20 };
const silent = () => {};

/** The video service on a registry and a folder of its own, with terminals that do as they are reported. */
export class Place {
  readonly registry: Registry;
  readonly directory: Directory;
  readonly files: Files;
  readonly hub = new MemoryHub();
  readonly terminals = new FakeTerminals();
  readonly metrics = new Metrics();
  readonly folder: string;
  readonly news: VideoTask[] = [];
  readonly errors: unknown[] = [];
  /** Added to the clock. */
  aheadMs = 0;
  #video: Video | null = null;
  #phones = 0;

  private constructor(
    folder: string,
    registry: Registry,
    directory: Directory,
    files: Files,
    clock: { now(): number },
  ) {
    this.folder = folder;
    this.registry = registry;
    this.directory = directory;
    this.files = files;
    clock.now = () => this.now();
  }

  static async open(): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), 'video-'));
    const clock = { now: Date.now };
    const registry = await openTestRegistry({ path: join(folder, 'registry.sqlite'), now: () => clock.now() });
    const { directory } = await followRegistry(registry);
    const place = new Place(folder, registry, directory, await openFolder(join(folder, 'files')), clock);
    await place.hub.subscribe(VIDEO_TASK_CHANNEL, (text) => place.news.push((JSON.parse(text) as VideoTaskNews).task));
    return place;
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  async start(config: Partial<VideoConfig> = {}): Promise<Video> {
    const note = (facts: unknown) => this.errors.push(facts);
    this.#video = createVideo({
      config: {
        spool: join(this.folder, 'spool'),
        maxDownloads: 4,
        leaseMs: 30_000,
        pollMs: 20,
        everyMs: { presence: 50, tidy: 50, sweep: 50 },
        isAlone: true,
        retentionDays: 30,
        quotaBytes: 100_000_000,
        ...config,
      },
      registry: this.registry,
      directory: this.directory,
      files: this.files,
      hub: this.hub,
      drivers: [this.terminals],
      logger: { debug: silent, info: silent, warn: note, error: note, fatal: note },
      metrics: this.metrics,
      clock: clockAt(() => this.now()),
      random: () => 0.5,
    });
    await this.#video.start();
    return this.#video;
  }

  async stop(): Promise<void> {
    await this.#video?.stop();
    this.#video = null;
    this.metrics.clear();
  }

  async close(): Promise<void> {
    this.terminals.release();
    await this.stop();
    await this.registry.close();
    await rm(this.folder, { recursive: true });
  }

  /** @param dealerId whose the vehicle is; null: the operator's */
  async addProfile(more: Partial<VideoProfileFields> = {}, dealerId: UserId | null = null): Promise<VideoProfile> {
    this.#phones += 1;
    const vehicle = await this.registry.vehicles.create(sampleVehicleFields({ name: `Van ${this.#phones}`, dealerId }));
    return this.registry.videoProfiles.create({
      vehicleId: vehicle.id as VehicleId,
      name: 'Recorder',
      protocol: 'jt1078',
      address: String(13_800_000_000 + this.#phones),
      channels: [{ number: 1, name: 'Road', direction: 'front' }],
      quality: 'main',
      audio: true,
      maxFragmentSeconds: 900,
      maxParallelDownloads: 1,
      timeZone: 'Asia/Shanghai',
      ...more,
    });
  }

  /** Waits until the running service has found the terminal of a profile connected. */
  async untilOnline({ id }: VideoProfile): Promise<void> {
    await vi.waitFor(async () => {
      expect((await this.registry.videoProfiles.presence([id])).get(id)?.online).toBe(true);
    }, WAIT);
  }

  /** As the API asks for a task, news and all. */
  async ask(profile: VideoProfile, more: { seconds?: number; hours?: number } = {}): Promise<VideoTask> {
    const { seconds = 10, hours = 24 } = more;
    const nowMs = this.now();
    const task = await this.registry.videoTasks.create({
      profileId: profile.id,
      createdBy: null,
      channel: 1,
      startMs: nowMs - 60_000,
      endMs: nowMs - 60_000 + seconds * 1000,
      quality: 'main',
      audio: true,
      expiresAtMs: nowMs + hours * 3_600_000,
    });
    await this.report(task);
    return task;
  }

  async cancel(id: VideoTaskId): Promise<void> {
    await this.report((await this.registry.videoTasks.cancel(id)).task);
  }

  async report(task: VideoTask): Promise<void> {
    const news: VideoTaskNews = { vehicleId: task.vehicleId, profileId: task.profileId, task };
    await this.hub.publish(VIDEO_TASK_CHANNEL, JSON.stringify(news));
  }

  async until(id: VideoTaskId, ...states: VideoTaskState[]): Promise<VideoTask> {
    let found: VideoTask | null = null;
    await vi.waitFor(async () => {
      found = await this.registry.videoTasks.get(id);
      expect(states, JSON.stringify(found)).toContain(found?.state);
    }, WAIT);
    return found as unknown as VideoTask;
  }

  async states(id: VideoTaskId): Promise<VideoTaskState[]> {
    return (await this.registry.videoTasks.history(id)).map(({ state }) => state);
  }

  /** Tasks whose file is fetched and not stored, as the database has them. */
  async fetchedRows(): Promise<string[]> {
    const database = new DatabaseSync(join(this.folder, 'registry.sqlite'), { readOnly: true });
    try {
      return database
        .prepare('select id from video_tasks where fetched is not null')
        .all()
        .map(({ id }) => String(id));
    } finally {
      database.close();
    }
  }

  async stored(): Promise<string[]> {
    return (await Array.fromAsync(this.files.list())).map(({ id }) => id).toSorted();
  }

  async spooled(): Promise<string[]> {
    return readdir(join(this.folder, 'spool')).catch(() => []);
  }

  async content(id: VideoTaskId): Promise<Buffer> {
    return readFile(join(this.folder, 'files', `${id}.mp4`));
  }
}
