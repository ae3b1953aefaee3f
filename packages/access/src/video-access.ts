import {
  type Directory,
  hasScope,
  isFinal,
  isSecretAddress,
  mayChangeTask,
  mayUseVideo,
  phoneAddress,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
  VIDEO_TASK_CHANNEL,
  type VideoProfile,
  type VideoProfileId,
  type VideoQuality,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskNews,
  type VideoTaskState,
  type VideoTaskTransition,
} from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type {
  Page,
  Paging,
  Presence,
  Registry,
  VehicleOfTask,
  VideoProfileFields,
  VideoUsage,
} from '@outrider/registry';
import { requireHistory } from './history-limit.ts';
import { badField, notFound, Problem, rightNeeded, scopeNeeded } from './problem.ts';
import { isOperator, type Right, rightToData, rightToUser, visibleData } from './rights.ts';

export interface VideoConfig {
  /** Hours for which a task is retried. */
  taskHours: number;
  /** Days for which a file is kept. */
  retentionDays: number;
  /** Total size allowed for all files. */
  quotaBytes: number;
}

/** Files that the video service fetched. */
export type VideoFiles = Pick<Files, 'info' | 'get' | 'delete'>;

/** The data behind a caller's video. */
export interface VideoSources {
  registry: Registry;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
  videoFiles: VideoFiles;
  config: { video: VideoConfig };
}

/** A profile with the presence of its terminal; null if the terminal never sent anything. */
export interface ProfileShown {
  profile: VideoProfile;
  presence: Presence | null;
  /** Whether the address belongs to the terminal of another vehicle. */
  addressRefused: boolean;
}

/** Fields of a new task; undefined ones are taken from the profile. */
export interface TaskWish {
  profileId: VideoProfileId;
  channel: number;
  startMs: number;
  endMs: number;
  quality: VideoQuality | undefined;
  audio: boolean | undefined;
}

/** Changed fields of a task. */
export type TaskPatch = Partial<Omit<TaskWish, 'profileId'>>;

/** A task as shown to the caller. The account that made it is shown only if the caller may see that account. */
export interface TaskShown {
  task: VideoTask;
  /** Latest time until which its file is kept; null if it has no file. */
  fileExpiresAtMs: number | null;
}

/** A task with an existing file. */
export interface VideoFileShown {
  task: VideoTask;
  vehicle: Vehicle;
  bytes: number;
  sha256: string;
}

export type NewProfile = Omit<VideoProfileFields, 'address'> & { address: string | undefined };

const DAY_MS = 86_400_000;
/** Nobody needs more at a time. */
const MAX_UNFINISHED_TASKS = 200;

/**
 * Video that one caller may access, like {@link Access}. The right to a vehicle's video follows from that to the
 * vehicle.
 */
export class VideoAccess {
  readonly #caller: User;
  readonly #sources: VideoSources;

  constructor(caller: User, sources: VideoSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  // Profiles

  async profiles(terminalId: TerminalId | undefined, paging: Paging): Promise<Page<ProfileShown>> {
    this.#requireService();
    const { registry, directory } = this.#sources;
    const filter = { ...visibleData(this.#caller) };
    if (terminalId !== undefined) {
      const vehicle = directory.vehicleOfTerminal(terminalId);
      if (vehicle === undefined) return { items: [], next: null };
      Object.assign(filter, { vehicleId: vehicle.id });
    }
    const page = await registry.videoProfiles.list(filter, paging);
    const presence = await registry.videoProfiles.presence(page.items.map(({ id }) => id));
    const seen = page.items.filter((profile) => this.#right(profile.vehicleId) !== 'none');
    return { ...page, items: seen.map((profile) => this.#profileShown(profile, presence)) };
  }

  async profile(id: VideoProfileId): Promise<ProfileShown> {
    return this.#shown(await this.#profile(id, 'read'));
  }

  async addProfile(fields: NewProfile): Promise<ProfileShown> {
    this.#requireService();
    const { registry, directory } = this.#sources;
    const right = this.#right(fields.vehicleId);
    if (right === 'none') throw badField('/vehicleId', 'There is no such vehicle.');
    requireWrite(right);
    const { terminalId } = directory.vehicles.get(fields.vehicleId) ?? { terminalId: null };
    const address = fields.address ?? (fields.protocol === 'jt1078' ? terminalId : null);
    if (address === null) throw badField('/address', 'The vehicle has no terminal: give an address.');
    return this.#shown(
      await registry.videoProfiles.create({ ...fields, address: addressOf(fields.protocol, address) }),
    );
  }

  async changeProfile(
    id: VideoProfileId,
    ifMatch: number | null,
    patch: Partial<Omit<VideoProfileFields, 'vehicleId' | 'protocol'>>,
  ): Promise<ProfileShown> {
    const { protocol } = await this.#profile(id, 'write');
    const { address, ...rest } = patch;
    requireParallel(protocol, rest.maxParallelDownloads ?? 1);
    return this.#shown(
      await this.#sources.registry.videoProfiles.update(id, ifMatch, {
        ...rest,
        ...(address === undefined ? {} : { address: addressOf(protocol, address) }),
      }),
    );
  }

  async removeProfile(id: VideoProfileId, ifMatch: number | null): Promise<void> {
    await this.#profile(id, 'write');
    const { registry } = this.#sources;
    const unfinished = await registry.videoTasks.list(
      { profileId: id, states: ['new', 'waiting', 'requested', 'downloading', 'processing'] },
      { limit: MAX_UNFINISHED_TASKS, after: null },
    );
    await registry.videoProfiles.delete(id, ifMatch);
    for (const task of unfinished.items) {
      const now = await registry.videoTasks.get(task.id);
      if (now) await this.#publish(now);
    }
  }

  // Tasks

  async addTask(wish: TaskWish, nowMs: number): Promise<TaskShown> {
    this.#requireService();
    const { registry, directory, config } = this.#sources;
    const profile = directory.videoProfiles.get(wish.profileId);
    if (!profile || this.#right(profile.vehicleId) === 'none')
      throw badField('/profileId', 'There is no such video profile.');
    requireFragment(wish, profile, nowMs);
    await this.#requireKeptTime(profile, wish.startMs);
    if ((await registry.videoTasks.unfinished(profile.id)) >= MAX_UNFINISHED_TASKS)
      throw new Problem('conflict', `The profile has ${MAX_UNFINISHED_TASKS} unfinished tasks: cancel some, or wait.`);
    const task = await registry.videoTasks.create({
      profileId: profile.id,
      createdBy: this.#caller.id,
      channel: wish.channel,
      startMs: wish.startMs,
      endMs: wish.endMs,
      quality: wish.quality ?? profile.quality,
      audio: wish.audio ?? profile.audio,
      expiresAtMs: nowMs + config.video.taskHours * 3_600_000,
    });
    await this.#publish(task);
    return this.#taskShown(task);
  }

  async tasks(
    filter: { profileId?: VideoProfileId | undefined; state?: VideoTaskState | undefined },
    paging: Paging,
  ): Promise<Page<TaskShown>> {
    this.#requireService();
    const { profileId, state } = filter;
    if (profileId !== undefined) await this.#profile(profileId, 'read');
    const page = await this.#sources.registry.videoTasks.list(
      {
        ...visibleData(this.#caller),
        ...(profileId === undefined ? {} : { profileId }),
        ...(state === undefined ? {} : { states: [state] }),
      },
      paging,
    );
    const seen = page.items.filter((task) => this.#right(task.vehicleId) !== 'none');
    return { ...page, items: seen.map((task) => this.#taskShown(task)) };
  }

  async task(id: VideoTaskId): Promise<TaskShown & { history: VideoTaskTransition[] }> {
    const task = await this.#task(id);
    return { ...this.#taskShown(task), history: await this.#sources.registry.videoTasks.history(id) };
  }

  /** Cancels a task. Allowed for the account that made it, and for those who manage the vehicle. */
  async cancelTask(id: VideoTaskId): Promise<TaskShown & { history: VideoTaskTransition[] }> {
    this.#requireKept(await this.#task(id), 'cancel it');
    const { task, cancelled } = await this.#sources.registry.videoTasks.cancel(id);
    if (cancelled) await this.#publish(task);
    if (!cancelled && task.state !== 'cancelled') throw new Problem('conflict', `The task is already ${task.state}.`);
    return this.task(id);
  }

  /**
   * Changes a task until its terminal is asked to play. Allowed for its author, and for those who manage the vehicle.
   *
   * @param ifMatch the `changedAtMs` that the caller last saw; null: any
   */
  async changeTask(
    id: VideoTaskId,
    ifMatch: number | null,
    patch: TaskPatch,
    nowMs: number,
  ): Promise<TaskShown & { history: VideoTaskTransition[] }> {
    const { registry, directory } = this.#sources;
    const task = await this.#task(id);
    this.#requireKept(task, 'change it');
    if (!mayChangeTask(task.state)) throw requestedAlready(task);
    const profile = directory.videoProfiles.get(task.profileId);
    if (profile === undefined) throw notFound();
    const { channel = task.channel, startMs = task.startMs, endMs = task.endMs } = patch;
    const { quality = task.quality, audio = task.audio } = patch;
    const wish = { profileId: task.profileId, channel, startMs, endMs, quality, audio };
    requireFragment(wish, profile, nowMs);
    await this.#requireKeptTime(profile, startMs);
    const { profileId: _, ...wanted } = wish;
    const { task: now, changed } = await registry.videoTasks.change(id, ifMatch, wanted, this.#vehicleOf(task));
    if (!changed) throw requestedAlready(now);
    await this.#publish(now);
    return this.task(id);
  }

  /**
   * Removes a task in any state, and its file. Allowed for its author, and for those who manage the vehicle.
   *
   * @param ifMatch as in {@link changeTask}
   */
  async removeTask(id: VideoTaskId, ifMatch: number | null): Promise<void> {
    const { registry, videoFiles } = this.#sources;
    const task = await this.#task(id);
    this.#requireKept(task, 'delete it');
    await registry.videoTasks.delete(id, ifMatch, this.#vehicleOf(task));
    // If the process crashes here, the file belongs to no task, and is cleaned up like a leftover file of a worker.
    await videoFiles.delete(videoFileId(id));
    // Stops the task's worker, and makes clients reload their lists.
    await this.#publish(isFinal(task.state) ? task : { ...task, state: 'cancelled' });
  }

  async #requireKeptTime({ vehicleId }: VideoProfile, ms: number): Promise<void> {
    await requireHistory(this.#sources.registry, vehicleId, { field: '/start', ms, so: 'there are no videos of it' });
  }

  // Files

  async file(id: VideoTaskId): Promise<VideoFileShown> {
    const task = await this.#task(id);
    if (task.state !== 'done') throw notDone(task);
    const { retentionDays } = this.#sources.config.video;
    const gone = new Problem('gone', `The video was deleted: videos are kept for ${retentionDays} days at most.`);
    const vehicle = this.#sources.directory.vehicles.get(task.vehicleId);
    if (task.file === null || vehicle === undefined) throw gone;
    const info = await this.#sources.videoFiles.info(videoFileId(id));
    if (info === null) throw gone;
    return { task, vehicle, bytes: info.bytes, sha256: task.file.sha256 };
  }

  /** Streams the bytes of a file that {@link file} returned. */
  async *bytes(id: VideoTaskId, start: number, end: number): AsyncIterable<Uint8Array> {
    const bytes = await this.#sources.videoFiles.get(videoFileId(id), { start, end });
    if (bytes === null) throw new Error(`the file of ${id} was deleted meanwhile`);
    yield* bytes;
  }

  /** Deletes the video of a finished task. Allowed for the author of the task, and for those who manage the vehicle. */
  async removeFile(id: VideoTaskId): Promise<void> {
    const task = await this.#task(id);
    this.#requireKept(task, 'delete its video');
    if (task.state !== 'done') throw notDone(task);
    const { registry, directory, videoFiles } = this.#sources;
    const { name = '', dealerId = null } = directory.vehicles.get(task.vehicleId) ?? {};
    // In this order: a missing file that is still recorded is found again; a leftover file without a record would not
    // be.
    await videoFiles.delete(videoFileId(id));
    await registry.storedVideos.discardFile(id, name, dealerId);
    const now = await registry.videoTasks.get(id);
    if (now) await this.#publish(now);
  }

  /** Storage in use and its limits, with the number of waiting tasks. */
  async storage(): Promise<{ usage: VideoUsage; config: VideoConfig; waiting: ReadonlyMap<VideoTaskState, number> }> {
    if (!isOperator(this.#caller))
      throw new Problem('forbidden', 'Only operators may see the use of the video storage.');
    const { registry, config } = this.#sources;
    return {
      usage: await registry.storedVideos.usage(),
      config: config.video,
      waiting: await registry.videoQueue.counts(),
    };
  }

  // The checks

  #requireService(): void {
    if (mayUseVideo(this.#caller)) return;
    throw hasScope(this.#caller, 'video') ? rightNeeded('video') : scopeNeeded('video');
  }

  #requireKept({ createdBy, vehicleId }: VideoTask, what: string): void {
    if (createdBy !== this.#caller.id && this.#right(vehicleId) !== 'write')
      throw new Problem('forbidden', `Only its creator, or an account with the right edit-vehicles, may ${what}.`);
  }

  #vehicleOf({ vehicleId }: VideoTask): VehicleOfTask {
    const { name = '', dealerId = null } = this.#sources.directory.vehicles.get(vehicleId) ?? {};
    return { vehicleName: name, dealerId };
  }

  #right(vehicleId: VehicleId): Right {
    return rightToData(this.#caller, this.#sources.directory.vehicles.get(vehicleId));
  }

  async #profile(id: VideoProfileId, needed: Right): Promise<VideoProfile> {
    this.#requireService();
    const { directory, registry } = this.#sources;
    const known = directory.videoProfiles.get(id);
    // An address that may hold credentials is in the registry alone.
    const profile = known === undefined || isSecretAddress(known) ? await registry.videoProfiles.get(id) : known;
    const right = profile ? this.#right(profile.vehicleId) : 'none';
    if (!profile || right === 'none') throw notFound();
    if (needed === 'write') requireWrite(right);
    return profile;
  }

  async #task(id: VideoTaskId): Promise<VideoTask> {
    this.#requireService();
    const task = await this.#sources.registry.videoTasks.get(id);
    if (!task || this.#right(task.vehicleId) === 'none') throw notFound();
    return task;
  }

  async #shown(profile: VideoProfile): Promise<ProfileShown> {
    const presence = await this.#sources.registry.videoProfiles.presence([profile.id]);
    return this.#profileShown(profile, presence);
  }

  #profileShown(profile: VideoProfile, presence: ReadonlyMap<VideoProfileId, Presence>): ProfileShown {
    const addressRefused = this.#sources.directory.isOfAnotherVehicle(profile);
    return { profile, presence: presence.get(profile.id) ?? null, addressRefused };
  }

  #taskShown(task: VideoTask): TaskShown {
    const { retentionDays } = this.#sources.config.video;
    return {
      task: { ...task, createdBy: this.#seesUser(task.createdBy) ? task.createdBy : null },
      fileExpiresAtMs:
        task.file === null || task.finishedAtMs === null ? null : task.finishedAtMs + retentionDays * DAY_MS,
    };
  }

  #seesUser(id: UserId | null): boolean {
    const user = id === null ? undefined : this.#sources.directory.users.get(id);
    return rightToUser(this.#caller, user) !== 'none';
  }

  /** Notifies the video service and the subscribers of the live API. */
  async #publish(task: VideoTask): Promise<void> {
    const news: VideoTaskNews = { vehicleId: task.vehicleId, profileId: task.profileId, task };
    await this.#sources.hub.publish(VIDEO_TASK_CHANNEL, JSON.stringify(news));
  }
}

/** Name of a task's file in the store. */
export function videoFileId(id: VideoTaskId): string {
  return `${id}.mp4`;
}

/** @throws {Problem} when a terminal that can play only one recording at a time would have to play several */
export function requireParallel(protocol: VideoProfile['protocol'], maxParallelDownloads: number): void {
  if (protocol === 'jt1078' && maxParallelDownloads > 1)
    throw badField('/maxParallelDownloads', 'A JT/T 1078 terminal plays one recording at a time.');
}

function requireFragment({ channel, startMs, endMs }: TaskWish, profile: VideoProfile, nowMs: number): void {
  if (endMs <= startMs) throw badField('/end', 'It must be after the start.');
  if (endMs > nowMs) throw badField('/end', 'It must not be in the future.');
  const seconds = (endMs - startMs) / 1000;
  if (seconds > profile.maxFragmentSeconds)
    throw badField(
      '/end',
      `The fragment has ${seconds} s; the profile allows at most ${profile.maxFragmentSeconds} s.`,
    );
  if (!profile.channels.some(({ number }) => number === channel)) {
    const known = profile.channels.map(({ number }) => number).join(', ');
    throw badField('/channel', `There is no such channel. Known channels: ${known}.`);
  }
}

function addressOf(protocol: VideoProfile['protocol'], address: string): string {
  if (protocol !== 'jt1078') return address;
  if (!/^\d{1,20}$/.test(address)) throw badField('/address', 'It must be a phone number, up to 20 digits.');
  return phoneAddress(address);
}

function requireWrite(right: Right): void {
  if (right !== 'write') throw new Problem('forbidden', 'This account may see it but not change it.');
}

function requestedAlready({ state }: VideoTask): Problem {
  return new Problem(
    'conflict',
    `The task is already ${state}: it can be changed only until its terminal is asked to play.`,
  );
}

function notDone({ state, progressPercent, reason }: VideoTask): Problem {
  const why = reason === null ? '' : `: ${reason}`;
  const detail = isFinal(state)
    ? `The task is ${state}${why}.`
    : `The task is ${state}, at ${progressPercent} %${why}.`;
  return new Problem('not-done', detail, { errors: [{ parameter: 'task_id', detail: state }] });
}
