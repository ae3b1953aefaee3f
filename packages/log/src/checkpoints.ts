/** What a consumer of the log must know to go on where it was: its offsets and its state, as one. */
export interface Checkpoint {
  /** Next offset to read, by any name the consumer gives (`telemetry`, `events`, `definitions`). */
  offsets: Record<string, number>;
  /** The state's entries by key. */
  entries: Map<string, Buffer>;
}

export interface CheckpointChange {
  /** Offsets that moved; others of the consumer stay as they were saved. */
  offsets: Record<string, number>;
  /** Entries that changed since the last checkpoint; null removes one. */
  changed: Iterable<readonly [key: string, value: Buffer | null]>;
}

/** Checkpoints of consumers, each by consumer and partition. A save is atomic and durable when it resolves. */
export interface Checkpoints {
  /** Null where none was ever saved, or where the store lost it. */
  load(consumer: string, partition: number): Promise<Checkpoint | null>;
  save(consumer: string, partition: number, change: CheckpointChange): Promise<void>;
  close(): Promise<void>;
}
