import { Redis } from 'ioredis';
import { type Checkpoint, type CheckpointChange, CheckpointFencedError, type Checkpoints } from '../checkpoints.ts';

export interface RedisCheckpointsOptions {
  /** `redis://user:password@host:6379/0`; `rediss://…` for TLS. */
  url: string;
  /** Prefix of all keys. Default: `outrider`. */
  prefix?: string;
  /** Called when the connection is lost. The client reconnects automatically. */
  onError: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Timeout of a command. Loading many states takes a while, but a server that takes longer is considered lost. */
const COMMAND_TIMEOUT_MS = 30_000;
/** A connection that receives nothing for this long while a reply is pending is closed and replaced. */
const SILENT_AFTER_MS = 15_000;
const LONGEST_PAUSE_MS = 2000;

/** KEYS: offsets, entries, fence. Increments the fence and returns it with everything that is saved. */
const CLAIM = `
return { redis.call('INCR', KEYS[3]), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }`;

/** KEYS: offsets and entries. Returns both as they were saved together. */
const LOAD = `
return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }`;

/**
 * KEYS: offsets, entries, fence. ARGV: the fence that the saver raised ('' for none), the number of offsets, the number
 * of entries to set; then names and offsets, keys and values, and the keys to remove. Returns 0 and writes nothing if
 * another instance has raised the fence since.
 */
const SAVE = `
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[1] then return 0 end
local at = 4
redis.call('HSET', KEYS[1], ':saved', 1)
for _ = 1, ARGV[2] do
  redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
  at = at + 2
end
for _ = 1, ARGV[3] do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
  at = at + 2
end
for i = at, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return 1`;

/** Field that distinguishes a checkpoint without offsets from none; no offset has such a name. */
const SAVED = ':saved';
/** Fields of the offsets' hash with this prefix hold the identity of a topic. */
const IDENTITY = ':identity:';

/**
 * Checkpoints of several instances, in Redis. One script writes the state and offsets of a partition, and only while
 * the writer still has the partition. They are as durable as the server's configuration makes them (`appendonly yes`).
 * If the server lost its data, consumers begin with the oldest record kept.
 *
 * @throws {Error} when Redis can't be reached or refuses the credentials
 */
export async function openRedisCheckpoints({
  url,
  prefix = 'outrider',
  onError,
}: RedisCheckpointsOptions): Promise<Checkpoints> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENT_AFTER_MS,
    // Disables retries of the library: a checkpoint's commands are written completely or not at all, and the caller
    // repeats an interrupted one.
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, LONGEST_PAUSE_MS),
  });
  const firstErrors: Error[] = [];
  let connected = false;
  redis.on('error', (error: Error) => (connected ? onError(error) : firstErrors.push(error)));
  try {
    await redis.connect();
    connected = true;
  } catch (error) {
    redis.disconnect();
    const reason = firstErrors.at(-1) ?? (error as Error);
    throw new Error(`Redis can't keep checkpoints: ${reason.message}`, { cause: error });
  }
  return new RedisCheckpoints(redis, prefix);
}

class RedisCheckpoints implements Checkpoints {
  readonly #redis: Redis;
  readonly #prefix: string;
  /** Fences that this instance raised, by key of the fence. */
  readonly #claims = new Map<string, string>();

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async load(consumer: string, partition: number): Promise<Checkpoint | null> {
    const { offsets, entries } = keysOf(this.#prefix, consumer, partition);
    const [allOffsets, allEntries] = (await this.#redis.callBuffer('EVAL', LOAD, 2, offsets, entries)) as [
      Buffer[],
      Buffer[],
    ];
    return checkpointOf(allOffsets, allEntries);
  }

  async claim(consumer: string, partition: number): Promise<Checkpoint | null> {
    const { offsets, entries, fence } = keysOf(this.#prefix, consumer, partition);
    const answer = await this.#redis.callBuffer('EVAL', CLAIM, 3, offsets, entries, fence);
    const [raised, allOffsets, allEntries] = answer as [number, Buffer[], Buffer[]];
    this.#claims.set(fence, String(raised));
    return checkpointOf(allOffsets, allEntries);
  }

  async save(consumer: string, partition: number, change: CheckpointChange): Promise<void> {
    const { offsets, entries, fence } = keysOf(this.#prefix, consumer, partition);
    const set: (string | Buffer)[] = [];
    const removed: string[] = [];
    for (const [key, value] of change.changed) {
      if (value === null) removed.push(key);
      else set.push(key, value);
    }
    const identities = Object.entries(change.identities ?? {}).map(([topic, identity]) => [IDENTITY + topic, identity]);
    const moved = [...Object.entries(change.offsets), ...identities].flat();
    const counts = [moved.length / 2, set.length / 2];
    const args = [this.#claims.get(fence) ?? '', ...counts, ...moved].concat(set as string[], removed);
    if ((await this.#redis.eval(SAVE, 3, offsets, entries, fence, ...args)) !== 1)
      throw new CheckpointFencedError(consumer, partition);
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }
}

/** The braces place all keys of a partition in one hash slot of a cluster. */
function keysOf(prefix: string, consumer: string, partition: number) {
  const name = `{${prefix}:${consumer}:${partition}}`;
  return { offsets: `${name}:offsets`, entries: `${name}:entries`, fence: `${name}:fence` };
}

function checkpointOf(offsets: readonly Buffer[], entries: readonly Buffer[]): Checkpoint | null {
  if (offsets.length === 0) return null;
  const checkpoint: Checkpoint = { offsets: {}, identities: {}, entries: new Map() };
  for (let i = 0; i < offsets.length; i += 2) {
    const name = String(offsets[i]);
    if (name.startsWith(IDENTITY)) checkpoint.identities[name.slice(IDENTITY.length)] = String(offsets[i + 1]);
    else if (name !== SAVED) checkpoint.offsets[name] = Number(offsets[i + 1]);
  }
  for (let i = 0; i < entries.length; i += 2) checkpoint.entries.set(String(entries[i]), entries[i + 1] as Buffer);
  return checkpoint;
}
