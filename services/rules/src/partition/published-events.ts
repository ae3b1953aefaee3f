import type { FleetEvent } from '@outrider/domain';
import { eventsTopic, type Log } from '@outrider/log';

/**
 * Maximum number of remembered events. More lie after a checkpoint only when a checkpoint was lost; the surplus is
 * published again, with the same ids.
 */
const MAX_REMEMBERED = 2_000_000;

/**
 * The events in the log after the checkpoint. A replay produces them again; each is left out once.
 */
export class PublishedEvents {
  readonly #keys = new Set<string>();
  /** Whether more events were found than can be remembered. */
  overflowed = false;

  /** Events that the replay has not repeated yet. */
  get size(): number {
    return this.#keys.size;
  }

  /**
   * Reads the events that were appended since a checkpoint.
   *
   * @param partitions of topic `events`, each with the offset after its newest record
   * @param from the checkpoint's offset in a partition; undefined means from the oldest record kept
   */
  async readFrom(
    log: Log,
    partitions: Iterable<readonly [partition: number, end: number]>,
    from: (partition: number) => number | undefined,
  ): Promise<void> {
    for (const [partition, end] of partitions) {
      for await (const { records } of log.read(eventsTopic, partition, from(partition) ?? 'earliest', end)) {
        for (const { value } of records) {
          if (this.#keys.size >= MAX_REMEMBERED) this.overflowed = true;
          else this.#keys.add(keyOf(value));
        }
      }
    }
  }

  /** The events that are not in the log yet. Those in the log are removed from the set. */
  withoutPublished(events: FleetEvent[]): FleetEvent[] {
    if (this.#keys.size === 0) return events;
    return events.filter((event) => !this.#keys.delete(keyOf(event)));
  }

  /** Ends the replay. */
  clear(): void {
    this.#keys.clear();
  }
}

function keyOf({ id, phase }: FleetEvent): string {
  return `${id}:${phase}`;
}
