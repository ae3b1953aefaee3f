import type { UnreadableRecord } from '../dead-letters.ts';
import type { LogRecord, Topic } from '../log.ts';

/** Decodes records, and passes bytes that can't be decoded to a handler. */
export class Decoder<T> {
  readonly #topic: Topic<T>;
  readonly #name: string;
  readonly #onUnreadable: ((record: UnreadableRecord) => Promise<void>) | null;

  /** @param prefix prefix of the topic's name in the cluster */
  constructor(topic: Topic<T>, prefix: string, onUnreadable: ((record: UnreadableRecord) => Promise<void>) | null) {
    this.#topic = topic;
    this.#name = topic.name.slice(prefix.length);
    this.#onUnreadable = onUnreadable;
  }

  /**
   * Returns the value itself, not a promise: a promise for each record would cost as much as decoding it.
   *
   * @returns for undecodable bytes, a promise of null that resolves when the handler has taken them; it rejects without
   *   a handler
   */
  decode(partition: number, offset: number, bytes: Buffer): LogRecord<T> | Promise<null> {
    try {
      return { offset, value: this.#topic.decode(bytes) };
    } catch (error) {
      return this.#handOn(partition, offset, bytes, error as Error);
    }
  }

  async #handOn(partition: number, offset: number, bytes: Buffer, error: Error): Promise<null> {
    if (this.#onUnreadable === null) {
      const where = `${this.#topic.name}/${partition} at offset ${offset}`;
      throw new Error(`the log can't be read: ${where}: ${error.message}`, { cause: error });
    }
    await this.#onUnreadable({ topic: this.#name, partition, offset, bytes, error });
    return null;
  }
}
