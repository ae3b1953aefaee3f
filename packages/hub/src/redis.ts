import { SYSTEM_CLOCK, type TerminalId, type Timer, type VehicleId, type VehicleStatus } from '@outrider/domain';
import { Redis, ReplyError } from 'ioredis';
import {
  type ConnectionChange,
  type Count,
  deviceKey,
  GATEWAY_KEPT_MS,
  type Hub,
  HubAwayError,
  MAX_UNKNOWN_DEVICES,
  MAX_UNKNOWN_TERMINALS,
  type RefusedContact,
  type Sightings,
  type TerminalConnection,
  type UnknownDevice,
  type UnknownTerminal,
  type Unsubscribe,
} from './hub.ts';
import {
  FORGET_HIT,
  HIT,
  HOLD_LEASE,
  LENGTHEN_BLOCK,
  NOTE_CONNECTIONS,
  NOTE_SIGHTING,
  RELEASE_LEASE,
  UPDATE_LATEST,
} from './redis-scripts.ts';
import { readStatus, readStatuses, writeStatus } from './status-text.ts';

export interface RedisHubOptions {
  /** `redis://user:password@host:6379/0`; `rediss://…` for TLS. */
  url: string;
  /** Prefix of all keys and channels: instances with the same prefix share a hub. Default: `outrider`. */
  prefix?: string;
  /** Called when the connection is lost. The client reconnects automatically. */
  onError: (error: Error) => void;
}

/** Names in Redis. The braces put all of them into one slot of a cluster: the scripts change several keys together. */
function keysUnder(prefix: string) {
  const base = `{${prefix}}`;
  return {
    latest: `${base}:latest`,
    latestTimes: `${base}:latest-times`,
    latestChannel: `${base}:latest-news`,
    connections: `${base}:connections`,
    gateway: (gateway: string) => `${base}:gateway:${gateway}`,
    count: (key: string) => `${base}:count:${key}`,
    lease: (key: string) => `${base}:lease:${key}`,
    block: (key: string) => `${base}:block:${key}`,
    unknown: `${base}:unknown-terminals`,
    unknownOrder: `${base}:unknown-terminals-order`,
    devices: `${base}:unknown-devices`,
    devicesOrder: `${base}:unknown-devices-order`,
    channel: (channel: string) => `${base}:channel:${channel}`,
  };
}

/** A call that finds no connection fails after this long: its caller must not wait until Redis recovers. */
const COMMAND_TIMEOUT_MS = 2000;
/** A connection that is silent for this long while a response is due is replaced. */
const SILENT_AFTER_MS = 4000;
/** A connection that only listens pings the server this often. */
const PING_EVERY_MS = 5000;
const LONGEST_PAUSE_MS = 2000;
/** Errors of a server that is starting or lost its master role. The last two: its disk or its memory is full. */
const NOT_NOW = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MISCONF|OOM) /;
/** A block is kept for this time after its end, because clocks of instances differ. */
const BLOCK_SLACK_MS = 3_600_000;

/**
 * The hub of several instances, in Redis. Each method is one round trip; changes that belong together are in a script,
 * which Redis runs atomically.
 *
 * A call rejects with a {@link HubAwayError} when Redis does not respond within two seconds. Subscriptions are restored
 * with the connection; messages published meanwhile are lost, as {@link Hub} permits.
 *
 * @throws {Error} when Redis can't be reached or refuses the credentials
 */
export async function openRedisHub({ url, prefix = 'outrider', onError }: RedisHubOptions): Promise<Hub> {
  const connect = async (lazyOptions: { enableOfflineQueue: boolean }) => {
    const redis = new Redis(url, {
      ...lazyOptions,
      lazyConnect: true,
      connectTimeout: COMMAND_TIMEOUT_MS,
      commandTimeout: COMMAND_TIMEOUT_MS,
      socketTimeout: SILENT_AFTER_MS,
      maxRetriesPerRequest: 1,
      retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, LONGEST_PAUSE_MS),
    });
    let connected = false;
    const firstErrors: Error[] = [];
    redis.on('error', (error: Error) => (connected ? onError(error) : firstErrors.push(error)));
    try {
      await redis.connect();
      connected = true;
      return redis;
    } catch (error) {
      redis.disconnect();
      const reason = firstErrors.at(-1) ?? (error as Error);
      throw new Error(`Redis at ${withoutPassword(url)} can't be used: ${reason.message}`, { cause: error });
    }
  };
  // A separate connection: a subscribed one can't run other commands.
  const commands = await connect({ enableOfflineQueue: false });
  try {
    return new RedisHub(commands, await connect({ enableOfflineQueue: true }), prefix);
  } catch (error) {
    commands.disconnect();
    throw error;
  }
}

class RedisHub implements Hub {
  readonly #keys: ReturnType<typeof keysUnder>;
  readonly #commands: Redis;
  readonly #subscriber: Redis;
  readonly #channels = new Map<string, Set<(message: string) => void>>();
  readonly #pinging: Timer;

  constructor(commands: Redis, subscriber: Redis, prefix: string) {
    this.#keys = keysUnder(prefix);
    this.#commands = commands;
    this.#subscriber = subscriber;
    // A subscriber receives nothing while nothing is published, so without pings it would not notice a dead connection.
    this.#pinging = SYSTEM_CLOCK.every(PING_EVERY_MS, () => void subscriber.ping().catch(() => {}));
    this.#pinging.unref();
    subscriber.on('message', (channel: string, message: string) => {
      for (const listener of this.#channels.get(channel) ?? []) listener(message);
    });
  }

  async updateLatest(statuses: readonly VehicleStatus[]): Promise<void> {
    if (statuses.length === 0) return;
    const args = statuses.flatMap((status) => [status.vehicleId, status.asOfMs, writeStatus(status)]);
    await this.#ask((redis) =>
      redis.eval(UPDATE_LATEST, 2, this.#keys.latest, this.#keys.latestTimes, this.#keys.latestChannel, ...args),
    );
  }

  async latest(vehicleIds: readonly VehicleId[]): Promise<VehicleStatus[]> {
    if (vehicleIds.length === 0) return [];
    const found = await this.#ask((redis) => redis.hmget(this.#keys.latest, ...vehicleIds));
    return found.filter((entry) => entry !== null).map(readStatus);
  }

  async forgetLatest(vehicleIds: readonly VehicleId[]): Promise<void> {
    if (vehicleIds.length === 0) return;
    const forgotten = (redis: Redis) =>
      redis
        .multi()
        .hdel(this.#keys.latest, ...vehicleIds)
        .hdel(this.#keys.latestTimes, ...vehicleIds)
        .exec();
    await this.#ask(forgotten);
  }

  onLatest(listener: (statuses: readonly VehicleStatus[]) => void): Promise<Unsubscribe> {
    return this.#listen(this.#keys.latestChannel, (message) => listener(readStatuses(message)));
  }

  async noteConnections(gateway: string, changes: readonly ConnectionChange[]): Promise<boolean> {
    const args = changes.flatMap(({ terminalId, connection }) => [
      terminalId,
      connection === null ? '' : JSON.stringify({ ...connection, gateway }),
    ]);
    const keys = [this.#keys.connections, this.#keys.gateway(gateway)];
    return (
      (await this.#ask((redis) => redis.eval(NOTE_CONNECTIONS, 2, ...keys, gateway, GATEWAY_KEPT_MS, ...args))) === 1
    );
  }

  async connections(terminalIds: readonly TerminalId[]): Promise<ReadonlyMap<TerminalId, TerminalConnection>> {
    const found = new Map<TerminalId, TerminalConnection>();
    if (terminalIds.length === 0) return found;
    const texts = await this.#ask((redis) => redis.hmget(this.#keys.connections, ...terminalIds));
    const noted = texts.map((text) => text && (JSON.parse(text) as TerminalConnection & { gateway: string }));
    const gateways = [...new Set(noted.flatMap((each) => (each ? [each.gateway] : [])))];
    if (gateways.length === 0) return found;
    const marks = await this.#ask((redis) => redis.mget(gateways.map(this.#keys.gateway)));
    const alive = new Set(gateways.filter((_, i) => marks[i] !== null));
    for (const [i, terminalId] of terminalIds.entries()) {
      const each = noted[i];
      if (!each || !alive.has(each.gateway)) continue;
      const { gateway: _, ...connection } = each;
      found.set(terminalId, connection);
    }
    return found;
  }

  async hit(key: string, windowMs: number, nowMs: number): Promise<Count> {
    const answer = await this.#ask((redis) => redis.eval(HIT, 1, this.#keys.count(key), windowMs, nowMs));
    const [hits, resetsAtMs] = answer as [number, string];
    return { hits, resetsAtMs: Number(resetsAtMs) };
  }

  async unhit(key: string): Promise<void> {
    await this.#ask((redis) => redis.eval(FORGET_HIT, 1, this.#keys.count(key)));
  }

  async resetCount(key: string): Promise<void> {
    await this.#ask((redis) => redis.del(this.#keys.count(key)));
  }

  async block(key: string, untilMs: number): Promise<void> {
    const keepMs = Math.max(0, untilMs - SYSTEM_CLOCK.now()) + BLOCK_SLACK_MS;
    await this.#ask((redis) => redis.eval(LENGTHEN_BLOCK, 1, this.#keys.block(key), untilMs, keepMs));
  }

  async blockedUntil(key: string, nowMs: number): Promise<number | null> {
    const untilMs = await this.#ask((redis) => redis.get(this.#keys.block(key)));
    return untilMs !== null && Number(untilMs) > nowMs ? Number(untilMs) : null;
  }

  async holdLease(key: string, holder: string, keptMs: number): Promise<boolean> {
    return (await this.#ask((redis) => redis.eval(HOLD_LEASE, 1, this.#keys.lease(key), holder, keptMs))) === 1;
  }

  async releaseLease(key: string, holder: string): Promise<void> {
    await this.#ask((redis) => redis.eval(RELEASE_LEASE, 1, this.#keys.lease(key), holder));
  }

  async noteUnknownTerminal(
    terminalId: string,
    protocol: string,
    address: string,
    nowMs: number,
    contact?: RefusedContact,
  ): Promise<void> {
    const keys = [this.#keys.unknown, this.#keys.unknownOrder] as const;
    const terminal = { terminalId, protocol, address, contact: contact ?? null };
    await this.#noteSighting(keys, terminalId, terminal, nowMs, MAX_UNKNOWN_TERMINALS);
  }

  async refusedTerminal(terminalId: string): Promise<UnknownTerminal | null> {
    const found = await this.#ask((redis) => redis.hget(this.#keys.unknown, terminalId));
    return found === null ? null : (JSON.parse(found) as UnknownTerminal);
  }

  async unknownTerminals(): Promise<UnknownTerminal[]> {
    const seen = await this.#sightings<UnknownTerminal>(this.#keys.unknown, this.#keys.unknownOrder);
    // Entries of an earlier version have no contact.
    return seen.map((terminal) => ({ ...terminal, contact: terminal.contact ?? null }));
  }

  async noteUnknownDevice(device: UnknownDevice, nowMs: number): Promise<void> {
    const keys = [this.#keys.devices, this.#keys.devicesOrder] as const;
    await this.#noteSighting(keys, deviceKey(device), device, nowMs, MAX_UNKNOWN_DEVICES);
  }

  async unknownDevices(): Promise<(UnknownDevice & Sightings)[]> {
    const seen = await this.#sightings<UnknownDevice & Sightings>(this.#keys.devices, this.#keys.devicesOrder);
    // Lua writes an empty list as an object.
    return seen.map((device) => ({ ...device, guesses: Array.isArray(device.guesses) ? device.guesses : [] }));
  }

  async #noteSighting(
    keys: readonly [hash: string, order: string],
    key: string,
    seen: object,
    nowMs: number,
    most: number,
  ): Promise<void> {
    await this.#ask((redis) => redis.eval(NOTE_SIGHTING, 2, ...keys, key, JSON.stringify(seen), nowMs, most));
  }

  async #sightings<T>(hash: string, orderKey: string): Promise<T[]> {
    const order = await this.#ask((redis) => redis.zrevrange(orderKey, 0, -1));
    if (order.length === 0) return [];
    const found = await this.#ask((redis) => redis.hmget(hash, ...order));
    return found.filter((entry) => entry !== null).map((entry) => JSON.parse(entry) as T);
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#ask((redis) => redis.publish(this.#keys.channel(channel), message));
  }

  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe> {
    return this.#listen(this.#keys.channel(channel), listener);
  }

  async close(): Promise<void> {
    this.#channels.clear();
    this.#pinging.cancel();
    this.#subscriber.disconnect();
    this.#commands.disconnect();
  }

  /** @throws {HubAwayError} for any error but a final one that Redis itself returned */
  async #ask<T>(what: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      return await what(this.#commands);
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof ReplyError && !NOT_NOW.test(message)) throw error;
      throw new HubAwayError(`Redis does not answer: ${message}`, { cause: error });
    }
  }

  async #listen(channel: string, listener: (message: string) => void): Promise<Unsubscribe> {
    // A separate entry per subscription, even if two have the same listener.
    const own = (message: string) => listener(message);
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners);
    listeners.add(own);
    try {
      await this.#subscriber.subscribe(channel);
    } catch (error) {
      listeners.delete(own);
      throw error;
    }
    return async () => {
      listeners.delete(own);
      if (listeners.size > 0 || this.#channels.get(channel) !== listeners) return;
      this.#channels.delete(channel);
      await this.#subscriber.unsubscribe(channel);
    };
  }
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return 'an address that is no URL';
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '…';
  return shown.href;
}
