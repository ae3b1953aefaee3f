/** What a consumer of the log needs to resume: its offsets and its state, saved together. */
export interface Checkpoint {
  /** Next offset to read, by any name the consumer gives (`telemetry`, `events`, `definitions`). */
  offsets: Record<string, number>;
  /** Identity of the log that each offset belongs to, by topic. Missing in checkpoints of an earlier version. */
  identities: Record<string, string>;
  /** The state's entries by key. */
  entries: Map<string, Buffer>;
}

export interface CheckpointChange {
  /** Changed offsets; the consumer's other offsets stay as saved. */
  offsets: Record<string, number>;
  /** New identities; the consumer's other identities stay as saved. Default: none. */
  identities?: Record<string, string>;
  /** Entries that changed since the last checkpoint; null removes one. */
  changed: Iterable<readonly [key: string, value: Buffer | null]>;
}

/** A consumer tried to save after another had claimed its partition: its state is out of date. Nothing was written. */
export class CheckpointFencedError extends Error {
  constructor(consumer: string, partition: number) {
    super(`partition ${partition} of ${consumer} was claimed by another`);
    this.name = 'CheckpointFencedError';
  }
}

/** Checkpoints of consumers, each by consumer and partition. A save is atomic and durable when it resolves. */
export interface Checkpoints {
  /** Null before the first save, or when the store lost it. */
  load(consumer: string, partition: number): Promise<Checkpoint | null>;
  /**
   * Loads the checkpoint and claims the partition: from now on no other member can save it. The claim is needed because
   * a member of a group may learn late that its partition was given to another.
   */
  claim(consumer: string, partition: number): Promise<Checkpoint | null>;
  /** @throws {CheckpointFencedError} when another instance has claimed the partition since this one did */
  save(consumer: string, partition: number, change: CheckpointChange): Promise<void>;
  close(): Promise<void>;
}
