import type { MessagePort } from 'node:worker_threads';
import type { VehicleStatus } from '@outrider/domain';
import type { Hub, Unsubscribe } from './hub.ts';
import { readStatuses, writeStatuses } from './status-text.ts';

/** The calls of a hub that are a request and a response; subscriptions and `close` are not. */
type Call = Exclude<keyof Hub, 'updateLatest' | 'onLatest' | 'subscribe' | 'close'>;

/** Statuses are many: as JSON text they cross for a quarter of what copying the objects costs. As in Redis. */
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

/** Nothing waits for it: a hub that is unavailable has dropped its listeners by itself. */
async function leave(joined: Promise<Unsubscribe> | null | undefined): Promise<void> {
  try {
    await (await joined)?.();
  } catch {
    // As above.
  }
}

/** A hub that lives in another thread of this process, at the other end of a port given to {@link serveHub}. */
export function connectHub(port: MessagePort): Hub {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const listeners = new Set<(statuses: readonly VehicleStatus[]) => void>();
  const channels = new Map<string, Set<(message: string) => void>>();
  let nextId = 0;
  let closed = false;
  /** How many updates the other thread has handled, in memory of both. */
  const handled = new Int32Array(new SharedArrayBuffer(4));
  let updates = 0;
  let updateFailed: string | null = null;

  port.on('message', (response: Response) => {
    if ('latest' in response) {
      const latest = readStatuses(response.latest);
      for (const listener of listeners) listener(latest);
      return;
    }
    if ('channel' in response) {
      for (const listener of channels.get(response.channel) ?? []) listener(response.message);
      return;
    }
    if ('updateFailed' in response) {
      updateFailed = response.updateFailed;
      return;
    }
    const asked = waiting.get(response.id);
    waiting.delete(response.id);
    if ('error' in response) asked?.reject(new Error(response.error));
    else asked?.resolve(response.value);
  });
  port.on('close', () => {
    closed = true;
    for (const { reject } of waiting.values()) reject(new Error('the hub is gone'));
    waiting.clear();
  });

  function request(
    what: { call: Call; args: unknown[] } | { subscribe: string } | { listen: true } | { update: string },
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (closed) return reject(new Error('the hub is gone'));
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      port.postMessage({ ...what, id } satisfies Request);
    });
  }

  function ask<C extends Call>(call: C): Hub[C] {
    return ((...args: unknown[]) => request({ call, args })) as unknown as Hub[C];
  }

  port.postMessage({ handled } satisfies Request);
  return {
    /**
     * An answer would wake this thread for nothing: while the other one keeps up, the call resolves without. So two
     * updates are under way at most; a failure of the first is that of the next call.
     */
    async updateLatest(statuses) {
      if (updateFailed !== null) {
        const failure = new Error(updateFailed);
        updateFailed = null;
        throw failure;
      }
      const update = writeStatuses(statuses);
      const keepsUp = Atomics.load(handled, 0) === updates;
      updates = (updates + 1) | 0;
      if (!keepsUp) await request({ update });
      else if (closed) throw new Error('the hub is gone');
      else port.postMessage({ update, id: null } satisfies Request);
    },
    latest: ask('latest'),
    forgetLatest: ask('forgetLatest'),
    noteConnections: ask('noteConnections'),
    connections: ask('connections'),
    hit: ask('hit'),
    unhit: ask('unhit'),
    resetCount: ask('resetCount'),
    block: ask('block'),
    blockedUntil: ask('blockedUntil'),
    holdLease: ask('holdLease'),
    releaseLease: ask('releaseLease'),
    noteUnknownTerminal: ask('noteUnknownTerminal'),
    refusedTerminal: ask('refusedTerminal'),
    unknownTerminals: ask('unknownTerminals'),
    noteUnknownDevice: ask('noteUnknownDevice'),
    unknownDevices: ask('unknownDevices'),
    publish: ask('publish'),
    async onLatest(listener) {
      listeners.add(listener);
      try {
        await request({ listen: true });
      } catch (error) {
        listeners.delete(listener);
        throw error;
      }
      return async () => {
        listeners.delete(listener);
        if (listeners.size === 0 && !closed) port.postMessage({ listen: false } satisfies Request);
      };
    },
    async subscribe(channel, listener) {
      const own = (message: string) => listener(message);
      const all = channels.get(channel) ?? new Set();
      channels.set(channel, all);
      all.add(own);
      try {
        await request({ subscribe: channel });
      } catch (error) {
        all.delete(own);
        throw error;
      }
      return async () => {
        all.delete(own);
        if (all.size > 0 || channels.get(channel) !== all) return;
        channels.delete(channel);
        if (!closed) port.postMessage({ unsubscribe: channel } satisfies Request);
      };
    },
    async close() {
      listeners.clear();
      channels.clear();
      port.close();
    },
  };
}
