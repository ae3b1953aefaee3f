import { Redis } from 'ioredis';
import { type Checkpoint, type CheckpointChange, CheckpointFencedError, type Checkpoints } from '../checkpoints.ts';

export interface RedisCheckpointsOptions {
  /** `redis://user:password@host:6379/0`; `rediss://…` for TLS. */
  url: string;
  /** Begins the names of all keys. Default: `outrider`. */
  prefix?: string;
  /** Called with each loss of the connection; it is made again by itself. */
  onError: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Loading many states takes a while; a server that does not answer for longer is taken for lost. */
const COMMAND_TIMEOUT_MS = 30_000;
/** A connection on which nothing at all comes for this long, though it is waited for, is given up: another is made. */
const SILENT_AFTER_MS = 15_000;
const LONGEST_PAUSE_MS = 2000;

/** KEYS: offsets, entries, fence. Raises the fence and answers it with all that is saved. */
const CLAIM = `
return { redis.call('INCR', KEYS[3]), redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }`;

/** KEYS: offsets and entries. Both as they were saved together. */
const LOAD = `
return { redis.call('HGETALL', KEYS[1]), redis.call('HGETALL', KEYS[2]) }`;

/**
 * KEYS: offsets, entries, fence. ARGV: the fence that the saver raised ('' where none), how many offsets there are, how
 * many entries are set; then names and offsets, keys and values, and the keys that are removed. Answers 0 where another
 * raised the fence since, and writes nothing.
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
 * Checkpoints of several instances, in Redis: state and offsets of a partition are written by one script, and only
 * while the one who writes still has the partition. They are as durable as the server is set up to be (`appendonly
 * yes`); one that came back empty means that its consumers begin with the oldest record kept.
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
    // The commands of a checkpoint are written whole or not at all; one that was cut off is asked for again by the
    // caller.
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
  /** The fence that this opening raised, by the key of it. */
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

/** Braces: the keys of one partition are in one slot of a cluster. */
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
