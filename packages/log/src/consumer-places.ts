import type { Bounds, ConsumeOptions, StartAt, Topic } from './log.ts';

interface Consumer {
  topic: Topic<unknown>;
  /** The offset of the next record to process, by partition. */
  places: Map<number, StartAt>;
}

/** Tracks the offsets of all consumers of one open log. */
export class ConsumerPlaces {
  readonly #consumers = new Set<Consumer>();

  /** @returns options that also record the consumer's offsets, and a function that drops them when it stops */
  follow<T>(topic: Topic<T>, options: ConsumeOptions<T>): { options: ConsumeOptions<T>; forget: () => void } {
    const places = new Map<number, StartAt>();
    const consumer: Consumer = { topic: topic as Topic<unknown>, places };
    this.#consumers.add(consumer);
    const noted: ConsumeOptions<T> = {
      ...options,
      async startAt(partition) {
        const place = await options.startAt(partition);
        places.set(partition, place);
        return place;
      },
      onProgress(partition, nextOffset) {
        places.set(partition, nextOffset);
        options.onProgress?.(partition, nextOffset);
      },
      async onRevoked(partition) {
        places.delete(partition);
        await options.onRevoked?.(partition);
      },
    };
    return { options: noted, forget: () => void this.#consumers.delete(consumer) };
  }

  /** See `Log.behind`. */
  async behind(boundsOf: (topic: Topic<unknown>) => Promise<Map<number, Bounds>>): Promise<Record<string, number>> {
    const topics = new Map([...this.#consumers].map(({ topic }) => [topic.name, topic]));
    const boundsByTopic = new Map(
      await Promise.all([...topics].map(async ([name, topic]) => [name, await boundsOf(topic)] as const)),
    );
    const behind: Record<string, number> = {};
    for (const { topic, places } of this.#consumers) {
      const bounds = boundsByTopic.get(topic.name);
      const left = [...places].reduce((sum, [partition, place]) => sum + leftOf(bounds?.get(partition), place), 0);
      behind[topic.name] = Math.max(behind[topic.name] ?? 0, left);
    }
    return behind;
  }
}

function leftOf(bounds: Bounds | undefined, place: StartAt): number {
  if (bounds === undefined || place === 'latest') return 0;
  return Math.max(0, bounds.end - (place === 'earliest' ? bounds.earliest : place));
}
