import type { UnreadableRecord } from '../dead-letters.ts';
import type { LogRecord, Topic } from '../log.ts';

/** Makes records of bytes, and hands on what is none. */
export class Decoder<T> {
  readonly #topic: Topic<T>;
  readonly #name: string;
  readonly #onUnreadable: ((record: UnreadableRecord) => Promise<void>) | null;

  /** @param prefix of the topic's name in the cluster */
  constructor(topic: Topic<T>, prefix: string, onUnreadable: ((record: UnreadableRecord) => Promise<void>) | null) {
    this.#topic = topic;
    this.#name = topic.name.slice(prefix.length);
    this.#onUnreadable = onUnreadable;
  }

  /**
   * @returns null where it was handed on
   * @throws {Error} where it can't be read, and nobody takes it
   */
  async decode(partition: number, offset: number, bytes: Buffer): Promise<LogRecord<T> | null> {
    try {
      return { offset, value: this.#topic.decode(bytes) };
    } catch (error) {
      if (this.#onUnreadable === null) {
        const where = `${this.#topic.name}/${partition} at offset ${offset}`;
        throw new Error(`the log can't be read: ${where}: ${(error as Error).message}`, { cause: error });
      }
      await this.#onUnreadable({ topic: this.#name, partition, offset, bytes, error: error as Error });
      return null;
    }
  }
}
