import type { VideoProtocol, VideoTask, VideoTaskId } from '@outrider/domain';
import type { LeasedVideoTask } from '@outrider/registry';
import { inSpan, NO_TRACING } from '@outrider/runtime';
import type { VideoDriver } from './driver.ts';
import { Job } from './job.ts';
import type { VideoParts } from './video.ts';
import type { VideoRetention } from './video-retention.ts';

/** Running attempts at video tasks in this process, at most one per task. */
export class Attempts {
  readonly #parts: VideoParts;
  readonly #retention: VideoRetention;
  readonly #drivers: ReadonlyMap<VideoProtocol, VideoDriver>;
  readonly #onChange: (task: VideoTask) => void;
  readonly #onBytes: (bytes: number) => void;
  readonly #jobs = new Map<VideoTaskId, { job: Job; ended: Promise<void> }>();

  constructor(
    parts: VideoParts,
    retention: VideoRetention,
    drivers: ReadonlyMap<VideoProtocol, VideoDriver>,
    onChange: (task: VideoTask) => void,
    onBytes: (bytes: number) => void,
  ) {
    this.#parts = parts;
    this.#retention = retention;
    this.#drivers = drivers;
    this.#onChange = onChange;
    this.#onBytes = onBytes;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Aborts the attempt at a task that was cancelled or failed. */
  drop(id: VideoTaskId): void {
    this.#jobs.get(id)?.job.drop();
  }

  async run(leased: LeasedVideoTask, stop: AbortSignal): Promise<void> {
    const { config, registry, logger, clock, random } = this.#parts;
    const { id } = leased.task;
    const driver = this.#drivers.get(leased.profile.protocol);
    if (driver === undefined) {
      const detail = `no driver for ${leased.profile.protocol}`;
      const failed = await registry.videoQueue.step(leased, { state: 'failed', reason: 'unreachable', detail });
      if (failed) this.#onChange(failed);
      return;
    }
    // Waits for an earlier attempt that removes its files or has lost its lease: both use the same file.
    const before = this.#jobs.get(id);
    before?.job.drop();
    await before?.ended;
    if (stop.aborted) return;
    const job = new Job(leased, {
      tasks: registry.videoQueue,
      profiles: registry.videoProfiles,
      driver,
      retention: this.#retention,
      spool: config.spool,
      leaseMs: config.leaseMs,
      onChange: this.#onChange,
      onBytes: this.#onBytes,
      logger,
      clock,
      random,
    });
    const onStop = () => job.stop();
    stop.addEventListener('abort', onStop);
    const fetched = this.#traced(job, leased.task).finally(() => {
      stop.removeEventListener('abort', onStop);
      this.#jobs.delete(id);
    });
    this.#jobs.set(id, { job, ended: fetched.catch(() => {}) });
    await fetched;
  }

  async #traced(job: Job, { id, vehicleId, channel }: VideoTask): Promise<void> {
    const facts = { 'outrider.task.id': id, 'outrider.vehicle.id': vehicleId, 'outrider.channel': channel };
    const span = (this.#parts.tracing ?? NO_TRACING).begin('video task', { facts });
    await inSpan(span, async () => {
      await job.run();
      const { state, reason } = job.task;
      span.note({ 'outrider.task.state': state });
      if (state !== 'done' && reason !== null) span.fail(reason);
    });
  }
}
