import type { Discontinuity } from './log.ts';

/** A registered reader of one partition. */
export interface RegisteredReader {
  reader: string;
  topic: string;
  partition: number;
  /** Next offset that it will read. */
  offset: number;
}

/** The readers of one open log, and their discontinuities. */
export class ReaderRegister {
  readonly #readers = new Map<string, RegisteredReader>();
  readonly #discontinuities = new Map<string, Discontinuity>();
  readonly #onDiscontinuity: (discontinuity: Discontinuity) => void;

  constructor(onDiscontinuity: ((discontinuity: Discontinuity) => void) | undefined) {
    this.#onDiscontinuity =
      onDiscontinuity ??
      (({ kind, reader, topic, partition }) =>
        process.emitWarning(`${reader} could not resume in ${topic}/${partition}: records were ${kind}`));
  }

  get all(): readonly RegisteredReader[] {
    return [...this.#readers.values()];
  }

  get discontinuities(): readonly Discontinuity[] {
    return [...this.#discontinuities.values()];
  }

  add(reader: RegisteredReader): void {
    this.#readers.set(keyOf(reader.reader, reader.topic, reader.partition), reader);
  }

  /** Does nothing after the reader has given the partition up. */
  release(reader: string, topic: string, partition: number, offset: number): void {
    const known = this.#readers.get(keyOf(reader, topic, partition));
    if (known) known.offset = offset;
  }

  remove(reader: string, topic: string, partition: number): void {
    this.#readers.delete(keyOf(reader, topic, partition));
  }

  report(discontinuity: Discontinuity): void {
    const { reader, topic, partition } = discontinuity;
    this.#discontinuities.set(keyOf(reader, topic, partition), discontinuity);
    this.#onDiscontinuity(discontinuity);
  }
}

function keyOf(reader: string, topic: string, partition: number): string {
  return `${reader} ${topic}/${partition}`;
}
