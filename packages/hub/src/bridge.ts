import type { MessagePort } from 'node:worker_threads';
import type { VehicleStatus } from '@outrider/domain';
import type { Hub, Unsubscribe } from './hub.ts';
import { readStatuses, writeStatuses } from './status-text.ts';

/** The methods of a hub that are one request and response, unlike subscriptions and `close`. */
type Call = Exclude<keyof Hub, 'updateLatest' | 'onLatest' | 'subscribe' | 'close'>;

/** Statuses are sent as JSON text, like in Redis: it takes a quarter of the cost of cloning the many objects. */
type Request =
  | { update: string; id: number | null }
  | { handled: Int32Array }
  | { call: Call; args: unknown[]; id: number }
  | { listen: true; id: number }
  | { listen: false }
  | { subscribe: string; id: number }
  | { unsubscribe: string };
type Response =
  | { id: number; value: unknown }
  | { id: number; error: string }
  | { updateFailed: string }
  | { latest: string }
  | { channel: string; message: string };

/** Lets another thread of this process use `hub` through `port`. Ends when the port closes. */
export function serveHub(hub: Hub, port: MessagePort): void {
  let listening: Promise<Unsubscribe> | null = null;
  const subscribed = new Map<string, Promise<Unsubscribe>>();
  let handled: Int32Array = new Int32Array(1);
  const say = (response: Response) => port.postMessage(response);

  port.on('message', async (request: Request) => {
    if ('handled' in request) {
      handled = request.handled;
      return;
    }
    if ('unsubscribe' in request) {
      const joined = subscribed.get(request.unsubscribe);
      subscribed.delete(request.unsubscribe);
      return leave(joined);
    }
    if ('listen' in request && !request.listen) {
      const joined = listening;
      listening = null;
      return leave(joined);
    }
    try {
      if ('listen' in request) {
        listening ??= hub.onLatest((statuses) => say({ latest: writeStatuses(statuses) }));
        await listening;
        return say({ id: request.id, value: null });
      }
      if ('subscribe' in request) {
        const channel = request.subscribe;
        const joined = subscribed.get(channel) ?? hub.subscribe(channel, (message) => say({ channel, message }));
        subscribed.set(channel, joined);
        await joined;
        return say({ id: request.id, value: null });
      }
      if ('update' in request) {
        try {
          await hub.updateLatest(readStatuses(request.update));
        } finally {
          Atomics.add(handled, 0, 1);
        }
        if (request.id !== null) say({ id: request.id, value: null });
        return;
      }
      const method = hub[request.call] as (...args: unknown[]) => Promise<unknown>;
      say({ id: request.id, value: await method.apply(hub, request.args) });
    } catch (error) {
      // The next subscription tries again.
      if ('listen' in request) listening = null;
      if ('subscribe' in request) subscribed.delete(request.subscribe);
      const { message } = error as Error;
      say(request.id === null ? { updateFailed: message } : { id: request.id, error: message });
    }
  });
  port.on('close', async () => {
    await Promise.all([leave(listening), ...[...subscribed.values()].map(leave)]);
  });
}

/** Not awaited by anything: an unavailable hub has dropped its listeners by itself. */
async function leave(joined: Promise<Unsubscribe> | null | undefined): Promise<void> {
  try {
    await (await joined)?.();
  } catch {
    // See above.
  }
}

/** Connects to a hub in another thread of this process, at the other end of a port passed to {@link serveHub}. */
export function connectHub(port: MessagePort): Hub {
  return new DistantHub(port);
}

class DistantHub implements Hub {
  readonly latest = this.#ask('latest');
  readonly forgetLatest = this.#ask('forgetLatest');
  readonly noteConnections = this.#ask('noteConnections');
  readonly connections = this.#ask('connections');
  readonly hit = this.#ask('hit');
  readonly unhit = this.#ask('unhit');
  readonly resetCount = this.#ask('resetCount');
  readonly block = this.#ask('block');
  readonly blockedUntil = this.#ask('blockedUntil');
  readonly holdLease = this.#ask('holdLease');
  readonly releaseLease = this.#ask('releaseLease');
  readonly noteUnknownTerminal = this.#ask('noteUnknownTerminal');
  readonly refusedTerminal = this.#ask('refusedTerminal');
  readonly unknownTerminals = this.#ask('unknownTerminals');
  readonly noteUnknownDevice = this.#ask('noteUnknownDevice');
  readonly unknownDevices = this.#ask('unknownDevices');
  readonly publish = this.#ask('publish');
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #listeners = new Set<(statuses: readonly VehicleStatus[]) => void>();
  readonly #channels = new Map<string, Set<(message: string) => void>>();
  #nextId = 0;
  #closed = false;
  /** Number of updates that the other thread has handled, in shared memory. */
  readonly #handled = new Int32Array(new SharedArrayBuffer(4));
  #updates = 0;
  #updateFailed: string | null = null;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (response: Response) => this.#take(response));
    port.on('close', () => {
      this.#closed = true;
      for (const { reject } of this.#waiting.values()) reject(new Error('the hub is gone'));
      this.#waiting.clear();
    });
    this.#say({ handled: this.#handled });
  }

  /**
   * While the other thread keeps up, resolves without a response, which would wake this thread needlessly. So at most
   * two updates are pending; a failure of the first is reported by the next call.
   */
  async updateLatest(statuses: readonly VehicleStatus[]): Promise<void> {
    if (this.#updateFailed !== null) {
      const failure = new Error(this.#updateFailed);
      this.#updateFailed = null;
      throw failure;
    }
    const update = writeStatuses(statuses);
    const keepsUp = Atomics.load(this.#handled, 0) === this.#updates;
    this.#updates = (this.#updates + 1) | 0;
    if (!keepsUp) await this.#request({ update });
    else if (this.#closed) throw new Error('the hub is gone');
    else this.#say({ update, id: null });
  }

  async onLatest(listener: (statuses: readonly VehicleStatus[]) => void): Promise<Unsubscribe> {
    this.#listeners.add(listener);
    try {
      await this.#request({ listen: true });
    } catch (error) {
      this.#listeners.delete(listener);
      throw error;
    }
    return async () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0 && !this.#closed) this.#say({ listen: false });
    };
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe> {
    const own = (message: string) => listener(message);
    const all = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, all);
    all.add(own);
    try {
      await this.#request({ subscribe: channel });
    } catch (error) {
      all.delete(own);
      throw error;
    }
    return async () => {
      all.delete(own);
      if (all.size > 0 || this.#channels.get(channel) !== all) return;
      this.#channels.delete(channel);
      if (!this.#closed) this.#say({ unsubscribe: channel });
    };
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#channels.clear();
    this.#port.close();
  }

  #take(response: Response): void {
    if ('latest' in response) {
      const latest = readStatuses(response.latest);
      for (const listener of this.#listeners) listener(latest);
      return;
    }
    if ('channel' in response) {
      for (const listener of this.#channels.get(response.channel) ?? []) listener(response.message);
      return;
    }
    if ('updateFailed' in response) {
      this.#updateFailed = response.updateFailed;
      return;
    }
    const asked = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ('error' in response) asked?.reject(new Error(response.error));
    else asked?.resolve(response.value);
  }

  #request(
    what: { call: Call; args: unknown[] } | { subscribe: string } | { listen: true } | { update: string },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('the hub is gone'));
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      this.#say({ ...what, id });
    });
  }

  #ask<C extends Call>(call: C): Hub[C] {
    return ((...args: unknown[]) => this.#request({ call, args })) as unknown as Hub[C];
  }

  #say(request: Request): void {
    this.#port.postMessage(request);
  }
}
