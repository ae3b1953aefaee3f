import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Access, Problem } from '@outrider/access';
import { type EventKind, SYSTEM_CLOCK, type User, type VehicleId, type VehicleStatus } from '@outrider/domain';
import { type Logger, refuseUpgrade, WEB_SOCKET_CLOSING } from '@outrider/runtime';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Identity, KnownIdentity } from '../context.ts';
import type { FeedCall, Feeds } from '../feeds/feeds.ts';
import { asProblem } from '../http/error-responses.ts';
import { shownPosition, statusesOf } from './lists.ts';
import { readerOf } from './logins.ts';
import {
  type EventFields,
  lastPositionOf,
  type PositionFields,
  traccarDevice,
  traccarEvents,
  traccarPosition,
} from './models.ts';
import { SeenGroups } from './question.ts';

export interface TraccarSocketParts {
  feeds: Feeds;
  /** Identifies the sender of a request anew on each call. */
  identify(request: IncomingMessage): Promise<Identity>;
  /** Whether the requesting page may connect. */
  mayConnect(request: IncomingMessage): boolean;
  addressOf(request: IncomingMessage): string;
  /** @throws {Problem} while the address or the account is blocked */
  refuseBlocked(identity: Identity, address: string): Promise<void>;
  accessOf(identity: KnownIdentity, address: string): Access;
  logger: Logger;
}

/** Path to which Traccar clients connect. */
export const TRACCAR_SOCKET = '/api/socket';
const POLL_MS = 25_000;
const ITEMS_AT_ONCE = 500;
/** Messages from clients are ignored. */
const MAX_MESSAGE_BYTES = 1024;
/** Time within which a client must accept a message. */
const SEND_WITHIN_MS = 30_000;
/** Close codes (RFC 6455, 7.4). */
const CLOSE = { goingAway: 1001, refused: 1008, failed: 1011, later: 1013 };

/** What a client has: the fix time of the last sent position of each vehicle. */
type Known = Map<VehicleId, number>;

/**
 * WebSocket of Traccar clients. It sends all devices and their positions first, and then updates. Each connection is
 * two consumers of the feeds, which check rights and limit accounts. Nothing more is read from the log until the client
 * has taken the previous items.
 */
export class TraccarSockets {
  readonly #parts: TraccarSocketParts;
  readonly #open = new Set<WebSocket>();
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    ...WEB_SOCKET_CLOSING,
  });

  constructor(parts: TraccarSocketParts) {
    this.#parts = parts;
  }

  /** Takes over an HTTP upgrade. The socket is always answered here, even with a refusal. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { mayConnect, identify, addressOf, refuseBlocked, logger } = this.#parts;
    socket.on('error', () => socket.destroy());
    if (!mayConnect(request)) return refuseUpgrade(socket, '403 Forbidden');
    let identity: KnownIdentity;
    try {
      const identified = await identify(request);
      await refuseBlocked(identified, addressOf(request));
      identity = readerOf(identified);
    } catch (error) {
      const problem = asProblem(error);
      if (problem === null) logger.error({ err: error }, 'admitting a client of Traccar failed');
      return refuseUpgrade(socket, `${problem?.status ?? 500} Refused`);
    }
    if (socket.destroyed) return;
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      void this.#serve(webSocket, request, identity);
    });
  }

  /** Ends all connections; clients reconnect elsewhere. */
  close(): void {
    for (const webSocket of this.#open) {
      webSocket.close(CLOSE.goingAway, 'the service is stopping');
      webSocket.terminate();
    }
    this.#server.close();
  }

  async #serve(webSocket: WebSocket, request: IncomingMessage, identity: KnownIdentity): Promise<void> {
    this.#open.add(webSocket);
    const left = new AbortController();
    webSocket.on('close', () => {
      this.#open.delete(webSocket);
      left.abort();
    });
    webSocket.on('error', () => webSocket.terminate());
    try {
      await this.#follow(webSocket, request, identity, left.signal);
    } catch (error) {
      if (left.signal.aborted) return;
      const problem = asProblem(error);
      if (problem === null) this.#parts.logger.error({ err: error }, 'serving a client of Traccar failed');
      webSocket.close(closeCodeOf(problem), problem?.message.slice(0, 100) ?? 'the service could not answer');
    } finally {
      left.abort();
    }
  }

  /** @throws {Problem} when the caller may no longer listen */
  async #follow(
    webSocket: WebSocket,
    request: IncomingMessage,
    { caller }: KnownIdentity,
    signal: AbortSignal,
  ): Promise<void> {
    const { feeds, identify, accessOf, addressOf } = this.#parts;
    const accessNow = async () => {
      const identity = readerOf(await identify(request));
      return { caller: identity.caller as User, access: accessOf(identity, addressOf(request)) };
    };
    const call: FeedCall = { userId: caller.id, callerNow: async () => (await accessNow()).caller, signal };
    const begin = async (feed: 'positions' | 'events') =>
      (await feeds.page(feed, { from: 'latest' }, { limit: 1, waitMs: 0 }, call)).nextCursor;
    // The start cursors are read before the current state, so that nothing in between is missed.
    let [positions, events] = await Promise.all([begin('positions'), begin('events')]);
    const known: Known = new Map();
    await send(webSocket, await snapshot((await accessNow()).access, known));
    const follow = async (feed: 'positions' | 'events', cursor: string, onItems: (items: Items) => Promise<object>) => {
      const place = { cursor: { text: cursor, parameter: 'cursor' } };
      const page = await feeds.page(feed, place, { limit: ITEMS_AT_ONCE, waitMs: POLL_MS }, call);
      const message = page.items.length === 0 ? {} : await onItems(page.items);
      // An empty message shows that the connection is alive.
      const isSent = page.items.length === 0 || Object.keys(message).length > 0;
      if (isSent && !signal.aborted) await send(webSocket, message);
      return page.nextCursor;
    };
    const followPositions = async () => {
      while (!signal.aborted)
        positions = await follow('positions', positions, async (items) =>
          newPositions((await accessNow()).access, items, known),
        );
    };
    const followEvents = async () => {
      while (!signal.aborted)
        events = await follow('events', events, async (items) => newEvents((await accessNow()).access, items));
    };
    await Promise.all([followPositions(), followEvents()]);
  }
}

type Items = readonly Record<string, unknown>[];

async function snapshot(access: Access, known: Known): Promise<object> {
  const vehicles = access.vehicles.all();
  const statuses = await statusesOf(
    access,
    access.reports.vehicles(null).map(({ id }) => id),
  );
  const groups = new SeenGroups(access);
  for (const { vehicleId, position } of statuses.values()) if (position) known.set(vehicleId, position.fixTimeMs);
  return {
    devices: vehicles.map((vehicle) => traccarDevice(vehicle, groups.of(vehicle), statuses.get(vehicle.id) ?? null)),
    positions: [...statuses.values()].map((status) => shownPosition(access, status)).filter((each) => each !== null),
  };
}

/** The newest position of each vehicle, if it is newer than the client's; late data is never sent. */
async function newPositions(access: Access, items: Items, known: Known): Promise<object> {
  const newest = new Map<VehicleId, PositionFields>();
  for (const item of items as unknown as readonly PositionFields[]) {
    const { vehicleId, fixTime, valid } = item;
    const atMs = Date.parse(newest.get(vehicleId)?.fixTime ?? '') || (known.get(vehicleId) ?? 0);
    if (valid && Date.parse(fixTime) > atMs) newest.set(vehicleId, item);
  }
  if (newest.size === 0) return {};
  const statuses = await statusesOf(access, [...newest.keys()]);
  const positions = [...newest].map(([vehicleId, item]) => {
    const status = statuses.get(vehicleId) ?? null;
    // The status may lag behind the log, or the rules may have rejected the fix as a jump.
    const last = status && lastPositionOf(status);
    const isBehind = last === null || Date.parse(last.fixTime) < Date.parse(item.fixTime);
    known.set(vehicleId, Date.parse(isBehind ? item.fixTime : last.fixTime));
    return isBehind || status === null
      ? traccarPosition(item, status?.protocol ?? null)
      : shownPosition(access, status);
  });
  return { devices: devicesOf(access, [...newest.keys()], statuses), positions };
}

/** Live events only: these clients do not get corrections of the past by recalculations. */
async function newEvents(access: Access, items: Items): Promise<object> {
  const live = (items as readonly (Record<string, unknown> & EventFields)[]).filter(({ origin }) => origin === 'live');
  const events = live.flatMap((event) => {
    const [...both] = traccarEvents({ ...event, kind: event.kind as EventKind });
    // The begin was already sent when it happened.
    return both.filter(({ eventTime }) => event.phase === 'begin' || eventTime === event.endedAt);
  });
  const moved = [...new Set(live.map(({ vehicleId }) => vehicleId))];
  if (moved.length === 0) return {};
  const devices = devicesOf(access, moved, await statusesOf(access, moved));
  return { devices, ...(events.length > 0 && { events }) };
}

function devicesOf(access: Access, ids: readonly VehicleId[], statuses: ReadonlyMap<VehicleId, VehicleStatus>) {
  const groups = new SeenGroups(access);
  const wanted = new Set(ids);
  return access.reports
    .vehicles(null)
    .filter(({ id }) => wanted.has(id))
    .map((vehicle) => traccarDevice(vehicle, groups.of(vehicle), statuses.get(vehicle.id) ?? null));
}

/** Resolves once the message is sent. A client that takes too long is disconnected. */
function send(webSocket: WebSocket, message: object): Promise<void> {
  return new Promise((resolve) => {
    const late = SYSTEM_CLOCK.after(SEND_WITHIN_MS, () => webSocket.terminate());
    webSocket.send(JSON.stringify(message), () => {
      late.cancel();
      resolve();
    });
  });
}

function closeCodeOf(problem: Problem | null): number {
  if (problem === null) return CLOSE.failed;
  const { status } = problem;
  return status === 401 || status === 403 ? CLOSE.refused : CLOSE.later;
}
