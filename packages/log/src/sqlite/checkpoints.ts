import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Checkpoint, type CheckpointChange, CheckpointFencedError, type Checkpoints } from '../checkpoints.ts';
import { diskOutageOf, errorOf, messageOf, retryWhileBusy } from './database.ts';

const BUSY_TIMEOUT_MS = 5000;

/**
 * Checkpoints in a SQLite file beside the log. A save is one transaction, durable when it resolves; it blocks its own
 * thread while the disk writes. Any thread may open the same file.
 *
 * @throws {Error} when the folder can't be written, or the file has another format
 */
export function openSqliteCheckpoints({ path, busyTimeoutMs = BUSY_TIMEOUT_MS }: SqliteCheckpointOptions): Checkpoints {
  return new SqliteCheckpoints(path, busyTimeoutMs);
}

export interface SqliteCheckpointOptions {
  path: string;
  /** How long a call waits for the file while another has its lock; default 5000. */
  busyTimeoutMs?: number;
}

class SqliteCheckpoints implements Checkpoints {
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #isThere: StatementSync;
  readonly #setOffset: StatementSync;
  readonly #offsets: StatementSync;
  readonly #setIdentity: StatementSync;
  readonly #identities: StatementSync;
  readonly #setEntry: StatementSync;
  readonly #removeEntry: StatementSync;
  readonly #entries: StatementSync;
  readonly #raiseFence: StatementSync;
  readonly #fence: StatementSync;
  /** Fences that this instance raised, by consumer and partition. */
  readonly #claims = new Map<string, number>();

  constructor(path: string, busyTimeoutMs: number) {
    this.#path = path;
    try {
      mkdirSync(dirname(path), { recursive: true });
      const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
      retryWhileBusy(() => db.exec('PRAGMA journal_mode = WAL'));
      db.exec(`
        PRAGMA synchronous = FULL;
        PRAGMA journal_size_limit = ${64 * 1024 * 1024};
        BEGIN IMMEDIATE;
        CREATE TABLE IF NOT EXISTS checkpoints (
          consumer TEXT NOT NULL, partition INTEGER NOT NULL,
          PRIMARY KEY (consumer, partition)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS offsets (
          consumer TEXT NOT NULL, partition INTEGER NOT NULL, name TEXT NOT NULL, next_offset INTEGER NOT NULL,
          PRIMARY KEY (consumer, partition, name)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS identities (
          consumer TEXT NOT NULL, partition INTEGER NOT NULL, topic TEXT NOT NULL, identity TEXT NOT NULL,
          PRIMARY KEY (consumer, partition, topic)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS entries (
          consumer TEXT NOT NULL, partition INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
          PRIMARY KEY (consumer, partition, key)
        );
        CREATE TABLE IF NOT EXISTS fences (
          consumer TEXT NOT NULL, partition INTEGER NOT NULL, fence INTEGER NOT NULL,
          PRIMARY KEY (consumer, partition)
        ) WITHOUT ROWID;
        COMMIT`);
      this.#db = db;
    } catch (error) {
      throw new Error(`the checkpoints ${path} can't be opened: ${messageOf(error)}`, { cause: error });
    }
    const where = 'WHERE consumer = ? AND partition = ?';
    this.#begin = this.#db.prepare('INSERT OR IGNORE INTO checkpoints VALUES (?, ?)');
    this.#isThere = this.#db.prepare(`SELECT 1 FROM checkpoints ${where}`);
    this.#setOffset = this.#db.prepare('INSERT OR REPLACE INTO offsets VALUES (?, ?, ?, ?)');
    this.#offsets = this.#db.prepare(`SELECT name, next_offset FROM offsets ${where}`);
    this.#setIdentity = this.#db.prepare('INSERT OR REPLACE INTO identities VALUES (?, ?, ?, ?)');
    this.#identities = this.#db.prepare(`SELECT topic, identity FROM identities ${where}`);
    this.#setEntry = this.#db.prepare(`
      INSERT INTO entries VALUES (?, ?, ?, ?) ON CONFLICT (consumer, partition, key) DO UPDATE SET value = excluded.value`);
    this.#removeEntry = this.#db.prepare(`DELETE FROM entries ${where} AND key = ?`);
    this.#entries = this.#db.prepare(`SELECT key, value FROM entries ${where}`);
    this.#raiseFence = this.#db.prepare(`
      INSERT INTO fences VALUES (?, ?, 1) ON CONFLICT (consumer, partition) DO UPDATE SET fence = fence + 1
      RETURNING fence`);
    this.#fence = this.#db.prepare(`SELECT fence FROM fences ${where}`);
  }

  async load(consumer: string, partition: number): Promise<Checkpoint | null> {
    // One transaction: the offsets and entries read belong to one save, even while another member saves.
    return this.#transaction('BEGIN', () => this.#read(consumer, partition));
  }

  async claim(consumer: string, partition: number): Promise<Checkpoint | null> {
    return this.#transaction('BEGIN IMMEDIATE', () => {
      const raised = this.#raiseFence.get(consumer, partition) as { fence: number };
      this.#claims.set(claimKey(consumer, partition), raised.fence);
      return this.#read(consumer, partition);
    });
  }

  async save(consumer: string, partition: number, change: CheckpointChange): Promise<void> {
    const { offsets, identities = {}, changed } = change;
    this.#transaction('BEGIN IMMEDIATE', () => {
      const fence = this.#fence.get(consumer, partition)?.fence;
      if (fence !== this.#claims.get(claimKey(consumer, partition)))
        throw new CheckpointFencedError(consumer, partition);
      this.#begin.run(consumer, partition);
      for (const [name, offset] of Object.entries(offsets)) this.#setOffset.run(consumer, partition, name, offset);
      for (const [topic, identity] of Object.entries(identities))
        this.#setIdentity.run(consumer, partition, topic, identity);
      for (const [key, value] of changed) {
        if (value === null) this.#removeEntry.run(consumer, partition, key);
        else this.#setEntry.run(consumer, partition, key, value);
      }
    });
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }

  #read(consumer: string, partition: number): Checkpoint | null {
    if (!this.#isThere.get(consumer, partition)) return null;
    const checkpoint: Checkpoint = { offsets: {}, identities: {}, entries: new Map() };
    for (const { topic, identity } of this.#identities.iterate(consumer, partition))
      checkpoint.identities[String(topic)] = String(identity);
    for (const { name, next_offset } of this.#offsets.iterate(consumer, partition))
      checkpoint.offsets[String(name)] = Number(next_offset);
    for (const { key, value } of this.#entries.iterate(consumer, partition)) {
      const { buffer, byteOffset, length } = value as Uint8Array<ArrayBuffer>;
      checkpoint.entries.set(String(key), Buffer.from(buffer, byteOffset, length));
    }
    return checkpoint;
  }

  #transaction<T>(begin: string, action: () => T): T {
    try {
      this.#db.exec(begin);
      const result = action();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK');
      if (error instanceof CheckpointFencedError) throw error;
      const Failure = errorOf(diskOutageOf(error));
      throw new Failure(`the checkpoints ${this.#path} failed: ${messageOf(error)}`, { cause: error });
    }
  }
}

function claimKey(consumer: string, partition: number): string {
  return `${partition} ${consumer}`;
}
