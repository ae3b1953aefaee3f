import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock, VideoTask } from '@outrider/domain';
import { FilesFullError } from '@outrider/files';
import type { FetchedFile, LeasedVideoTask, Registry, VideoStep } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import { type DriverFailure, type FetchPhase, type FetchProgress, sourceOf, type VideoDriver } from './driver.ts';
import { afterFailure } from './retry.ts';
import type { VideoRetention } from './video-retention.ts';

/** Dependencies of a job. */
export interface JobParts {
  tasks: Pick<Registry['videoQueue'], 'step' | 'progress' | 'fetched'>;
  profiles: Pick<Registry['videoProfiles'], 'mayBeFetched'>;
  driver: VideoDriver;
  retention: VideoRetention;
  /** Folder of unfinished files, on a local disk. */
  spool: string;
  leaseMs: number;
  /** Called after each change has been saved. */
  onChange(task: VideoTask): void;
  onBytes(bytes: number): void;
  logger: Logger;
  clock: Clock;
  random(): number;
}

const PHASES: readonly FetchPhase[] = ['requested', 'downloading', 'processing'];
/** Renewals of a lease within its duration. */
const RENEWALS = 3;
/** Interval at which progress is reported. */
const REPORT_EVERY_MS = 1000;

/** One attempt at one task, from the lease to its outcome. */
export class Job {
  readonly #leased: LeasedVideoTask;
  readonly #parts: JobParts;
  readonly #abort = new AbortController();
  #task: VideoTask;
  #progress: FetchProgress = { bytes: 0, mediaMs: 0 };
  /** The task is no longer leased by this job: its results no longer count. */
  #lost = false;
  #stopping = false;
  /** Serialises the steps. */
  #steps: Promise<void> = Promise.resolve();
  #counted = 0;
  readonly #passed = new Set<FetchPhase>();
  #renewedAtMs: number;

  constructor(leased: LeasedVideoTask, parts: JobParts) {
    this.#leased = leased;
    this.#parts = parts;
    this.#task = leased.task;
    this.#renewedAtMs = parts.clock.now();
  }

  get task(): VideoTask {
    return this.#task;
  }

  /** Gives up a task that was cancelled or deleted with its profile. */
  drop(): void {
    this.#lost = true;
    this.#abort.abort();
  }

  /** Leaves the task to the next start, because the service stops. */
  stop(): void {
    this.#stopping = true;
    this.#abort.abort();
  }

  /** Never rejects for failures of a terminal, a store or a disk: these are recorded in the task. */
  async run(): Promise<void> {
    const { spool, leaseMs, logger, clock } = this.#parts;
    const path = join(spool, `${this.#task.id}.mp4`);
    const renewing = clock.every(Math.min(leaseMs / RENEWALS, REPORT_EVERY_MS), () => this.#renew());
    try {
      const fetched = await this.#fetchedBefore(path);
      const file = fetched ?? (await this.#fetch(path));
      if (file !== null) await this.#store(file, path);
    } catch (error) {
      await this.#steps.catch(() => {});
      logger.error({ err: error, task: this.#task.id }, 'cannot fetch or store a video');
      const isFull = error instanceof FilesFullError || (error as NodeJS.ErrnoException).code === 'ENOSPC';
      await this.#fail(
        isFull
          ? {
              reason: 'no-space',
              detail: error instanceof FilesFullError ? error.message : 'the disk of the service is full',
            }
          : { reason: 'source-failed', detail: 'something went wrong in the service' },
      );
    } finally {
      renewing.cancel();
      await rm(path, { force: true });
      if (this.#lost) await this.#parts.retention.discard(this.#task.id);
    }
  }

  /** The file that an earlier attempt fetched but did not store because of a crash; null if missing or incomplete. */
  async #fetchedBefore(path: string): Promise<FetchedFile | null> {
    const { fetched } = this.#leased;
    if (fetched === null || fetched.spool !== basename(path)) return null;
    const found = await stat(path).catch(() => null);
    return found?.size === fetched.bytes ? fetched : null;
  }

  async #fetch(path: string): Promise<FetchedFile | null> {
    const { driver, retention, profiles } = this.#parts;
    const { profile, task } = this.#leased;
    if (!(await profiles.mayBeFetched(profile))) {
      await this.#fail({ reason: 'address-not-allowed', detail: 'the address is the terminal of another vehicle' });
      return null;
    }
    const source = sourceOf(profile);
    if (!(await driver.online(source))) {
      await this.#fail({ reason: 'terminal-offline', detail: 'the terminal is not connected' });
      return null;
    }
    await rm(path, { force: true });
    const outcome = await driver.fetch(
      {
        source,
        taskId: task.id,
        channel: task.channel,
        startMs: task.startMs,
        endMs: task.endMs,
        stream: task.quality,
        audio: task.audio,
      },
      {
        path,
        signal: this.#abort.signal,
        maxBytes: retention.quotaBytes,
        onPhase: (phase) => this.#advance(phase),
        onProgress: (progress) => this.#note(progress),
      },
    );
    await this.#steps;
    if (!outcome.ok) {
      if (outcome.reason !== 'aborted') await this.#fail({ reason: outcome.reason, detail: outcome.detail });
      else if (this.#stopping) await this.#leaveForNextStart();
      return null;
    }
    if (this.#lost) return null;
    this.#advance('processing');
    await this.#steps;
    const { durationMs, videoCodec, audioCodec, frames, packetsLost } = outcome.value;
    // The size on disk is authoritative, not the size reported by the driver.
    const { size: bytes } = await stat(path);
    const file = { spool: basename(path), bytes, durationMs, videoCodec, audioCodec, frames, packetsLost };
    const noted = await this.#parts.tasks.fetched(this.#leased, file);
    if (noted === null) this.#lost = true;
    return this.#lost ? null : file;
  }

  async #store(fetched: FetchedFile, path: string): Promise<void> {
    const { retention, tasks } = this.#parts;
    const { spool: _, ...facts } = fetched;
    if (this.#task.state === 'waiting') await this.#step({ state: 'processing' });
    if (this.#lost) return;
    if (facts.bytes > retention.quotaBytes) {
      await this.#fail({ reason: 'too-large', detail: `${facts.bytes} bytes exceed the available space` });
      return;
    }
    const { bytes, sha256 } = await retention.put(this.#task.id, path, facts.bytes);
    if (this.#lost) return;
    const done = await tasks.step(this.#leased, { state: 'done', file: { ...facts, bytes, sha256 } });
    if (done === null) this.#lost = true;
    else this.#changed(done);
  }

  /** Enters all states up to this one that have not been entered: a driver may skip phases that it can't observe. */
  #advance(phase: FetchPhase): void {
    this.#steps = this.#steps.then(async () => {
      for (const state of PHASES.slice(0, PHASES.indexOf(phase) + 1)) {
        if (this.#lost) return;
        if (!this.#passed.has(state)) {
          this.#passed.add(state);
          await this.#step({ state });
        }
      }
    });
    // The caller that awaits the steps gets the error.
    this.#steps.catch(() => this.#abort.abort());
  }

  #note(progress: FetchProgress): void {
    this.#parts.onBytes(Math.max(0, progress.bytes - this.#counted));
    this.#counted = Math.max(this.#counted, progress.bytes);
    this.#progress = progress;
  }

  /** Renews the lease and reports the progress. */
  #renew(): void {
    this.#steps = this.#steps.then(async () => {
      if (this.#lost) return;
      const { bytes, mediaMs } = this.#progress;
      const { startMs, endMs } = this.#task;
      // 100 % only once the file is stored.
      const percent = Math.min(99, Math.max(0, Math.floor((100 * mediaMs) / (endMs - startMs))));
      const isNews = percent !== this.#task.progressPercent || bytes !== this.#task.progressBytes;
      const { leaseMs, clock } = this.#parts;
      if (!isNews && clock.now() < this.#renewedAtMs + leaseMs / RENEWALS) return;
      this.#renewedAtMs = clock.now();
      const task = await this.#parts.tasks.progress(this.#leased, { percent, bytes }, leaseMs);
      if (task === null) return this.drop();
      if (isNews) this.#changed(task);
    });
    this.#steps.catch(() => this.#abort.abort());
  }

  async #step(step: VideoStep): Promise<void> {
    const task = await this.#parts.tasks.step(this.#leased, step);
    if (task === null) this.drop();
    else this.#changed(task);
  }

  async #fail(failure: { reason: Exclude<DriverFailure, 'aborted'> | 'no-space'; detail: string }): Promise<void> {
    if (this.#lost) return;
    const { clock, random } = this.#parts;
    // A failed attempt counts even if the terminal was never asked to play, except when the terminal was offline.
    const isCounted = this.#passed.has('requested') || failure.reason === 'terminal-offline';
    const attempts = this.#task.attempts + (isCounted ? 0 : 1);
    const step = afterFailure({ ...this.#task, attempts }, failure, clock.now(), random());
    await this.#step({ ...step, attempts });
  }

  async #leaveForNextStart(): Promise<void> {
    if (this.#lost) return;
    await this.#step({
      state: 'waiting',
      reason: 'interrupted',
      detail: 'the service was stopped',
      nextAttemptAtMs: this.#parts.clock.now(),
    });
  }

  #changed(task: VideoTask): void {
    this.#task = task;
    this.#parts.onChange(task);
  }
}
