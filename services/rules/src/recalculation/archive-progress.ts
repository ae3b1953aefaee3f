import type { Clock } from '@outrider/domain';
import { type Checkpoints, eventsTopic, type Log, type Topic, telemetryTopic } from '@outrider/log';

const CATCH_UP_MS = 60_000;

/** The archive is behind the log. */
export class ArchiveBehind extends Error {}

/** How far the archiver has read the log. */
export class ArchiveProgress {
  readonly #log: Pick<Log, 'endOffsets' | 'locate'>;
  readonly #checkpoints: Pick<Checkpoints, 'load'>;
  readonly #clock: Clock;
  readonly #hurry: () => Promise<void>;
  /**
   * Identity of the log that the archiver's checkpoints refer to, by topic and partition. Kept once it was found to be
   * this log's.
   */
  readonly #identities = new Map<string, string>();

  /** @param hurry makes the archiver of this process insert its buffered rows. Default: it runs elsewhere */
  constructor(
    log: Pick<Log, 'endOffsets' | 'locate'>,
    checkpoints: Pick<Checkpoints, 'load'>,
    clock: Clock,
    hurry: () => Promise<void> = async () => {},
  ) {
    this.#hurry = hurry;
    this.#log = log;
    this.#checkpoints = checkpoints;
    this.#clock = clock;
  }

  /**
   * Resolves when everything is archived that the log held at the call.
   *
   * @param check called while waiting; an error that it throws ends the wait
   * @throws {ArchiveBehind} when that takes too long
   */
  async caughtUp(check: () => Promise<void>, stop: AbortSignal): Promise<void> {
    const untilMs = this.#clock.now() + CATCH_UP_MS;
    const topics = [telemetryTopic, eventsTopic] as readonly Topic<unknown>[];
    const ends = await Promise.all(topics.map(async (topic) => [topic, await this.#log.endOffsets(topic)] as const));
    for (const [topic, partitions] of ends)
      for (const [partition, end] of partitions) {
        while (end > 0 && (await this.#archivedUpTo(topic, partition)) < end) {
          if (this.#clock.now() >= untilMs) throw new ArchiveBehind();
          await check();
          await this.#hurry();
          await this.#clock.sleep(50, stop);
        }
      }
  }

  /**
   * Offset up to which the archiver read this log. Its checkpoint may refer to another log, or to one that was longer.
   */
  async #archivedUpTo(topic: Topic<unknown>, partition: number): Promise<number> {
    const checkpoint = await this.#checkpoints.load(`archiver/${topic.name}`, partition);
    const offset = checkpoint?.offsets[topic.name];
    if (checkpoint === null || offset === undefined) return 0;
    const identity = checkpoint.identities[topic.name] ?? null;
    const place = `${topic.name}/${partition}`;
    if (identity !== null && this.#identities.get(place) === identity) return offset;
    const { discontinuity } = await this.#log.locate(topic, partition, { offset, identity });
    if (discontinuity !== null) return 0;
    if (identity !== null) this.#identities.set(place, identity);
    return offset;
  }
}
