/** What a consumer of the log must know to go on where it was: its offsets and its state, as one. */
export interface Checkpoint {
  /** Next offset to read, by any name the consumer gives (`telemetry`, `events`, `definitions`). */
  offsets: Record<string, number>;
  /** Identity of the log that the offsets are of, by topic; those of an earlier version have none. */
  identities: Record<string, string>;
  /** The state's entries by key. */
  entries: Map<string, Buffer>;
}

export interface CheckpointChange {
  /** Offsets that moved; others of the consumer stay as they were saved. */
  offsets: Record<string, number>;
  /** Identities that are new; others of the consumer stay as they were saved. Default: none. */
  identities?: Record<string, string>;
  /** Entries that changed since the last checkpoint; null removes one. */
  changed: Iterable<readonly [key: string, value: Buffer | null]>;
}

/**
 * A save by somebody whose partition another has claimed since: what it would write is out of date. Nothing was
 * written.
 */
export class CheckpointFencedError extends Error {
  constructor(consumer: string, partition: number) {
    super(`partition ${partition} of ${consumer} was claimed by another`);
    this.name = 'CheckpointFencedError';
  }
}

/** Checkpoints of consumers, each by consumer and partition. A save is atomic and durable when it resolves. */
export interface Checkpoints {
  /** Null where none was ever saved, or where the store lost it. */
  load(consumer: string, partition: number): Promise<Checkpoint | null>;
  /**
   * Loads, and takes the partition over: from now on nobody else can save it, even a member that still believes to have
   * it. A member of a group may learn late that its partition was given to another.
   */
  claim(consumer: string, partition: number): Promise<Checkpoint | null>;
  /** @throws {CheckpointFencedError} when another has claimed the partition since this opening did */
  save(consumer: string, partition: number, change: CheckpointChange): Promise<void>;
  close(): Promise<void>;
}
