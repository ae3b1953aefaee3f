import { type GroupId, readUuid, type Vehicle, type VehicleId } from '@outrider/domain';

export type ClientMessage =
  | { type: 'authorize'; jwt: string }
  | Subscription
  | { type: 'unsubscribe' }
  | { type: 'ping' };

export interface Subscription {
  type: 'subscribe';
  /** Null in both: every vehicle that the caller may see. */
  vehicles: ReadonlySet<VehicleId> | null;
  groups: ReadonlySet<GroupId> | null;
  positions: boolean;
  /** The state of these vehicles with each record, with or without a usable fix. */
  states: boolean;
  /** Odometer and engine hours of these vehicles, when they advance or are corrected. */
  counters: boolean;
  /** Positions and states as lists, one message per flush. */
  batch: boolean;
  /** With each position, the time since its packet arrived; only in the binary subprotocol. */
  delays: boolean;
  events: boolean;
  /** Corrections of past events by late data and recalculations; only with `events`. */
  corrections: boolean;
  /** Notifications by the caller's own rules, of any vehicle. */
  notifications: boolean;
  /** Number of notifications that the caller has not read. */
  unread: boolean;
  /** Progress of tasks that fetch video of these vehicles; only for callers that may use the video service. */
  videoTasks: boolean;
  /** Commands to the terminals of these vehicles, for callers that may give such commands. */
  commands: boolean;
  /** The end of reports that the caller requested as jobs. */
  reportJobs: boolean;
  /** Changes of incidents that the caller handles, of any vehicle. */
  incidents: boolean;
  /** Definitions that are created, changed or deleted, of all that the caller may see. */
  definitions: boolean;
  since: Cursor | null;
}

/** Boolean options of a subscription, with their defaults. */
const SWITCHES = {
  positions: true,
  states: false,
  counters: false,
  batch: false,
  delays: false,
  events: true,
  corrections: true,
  notifications: true,
  unread: false,
  videoTasks: true,
  commands: true,
  reportJobs: true,
  incidents: false,
  definitions: false,
} as const satisfies Partial<Record<keyof Subscription, boolean>>;
const SWITCH_NAMES = Object.keys(SWITCHES) as (keyof typeof SWITCHES)[];

/** Progress of a client in all streams. */
export interface Cursor {
  /** Offset of the next event to send, by partition of topic `events`. */
  events: ReadonlyMap<number, number>;
  /** Number of the last notification that was sent; null if the client wants none. */
  notifications: number | null;
  /** Identity of the log to which the offsets belong; null in cursors of old versions. */
  identity: string | null;
  /** The same for topic `corrections`; null if the client wants none. */
  corrections: { offsets: ReadonlyMap<number, number>; identity: string } | null;
}

/** Offset of the next event to send, by partition of each topic; null: no corrections. */
export interface StreamPlaces {
  events: ReadonlyMap<number, number>;
  corrections: ReadonlyMap<number, number> | null;
}

/** Whether the client subscribed to the vehicle. Does not check whether it may see the vehicle. */
export function wantsVehicle(
  { vehicles, groups }: Pick<Subscription, 'vehicles' | 'groups'>,
  { id, groupIds }: Pick<Vehicle, 'id' | 'groupIds'>,
): boolean {
  if (vehicles === null && groups === null) return true;
  return (vehicles?.has(id) ?? false) || (groups !== null && groupIds.some((groupId) => groups.has(groupId)));
}

const MAX_LISTED = 10_000;
/** An unknown name is truncated to this length when it is sent back. */
const MAX_NAME_CHARACTERS = 100;

/** Enough for two topics of 200 partitions each. */
const MAX_CURSOR_CHARACTERS = 8192;
const CURSOR = /^([\d:,]*)(?:;c:([\d:,]*);k:(\w{1,64}))?(?:;n:(\d{1,15}))?(?:;l:(\w{1,64}))?$/;

/**
 * `0:1042,1:77;c:0:3;k:7d793037a0760186;n:12;l:5d41402abc4b2a76`: the next offset of each partition of the events and
 * of the corrections, the last notification, and the identities of both logs.
 */
export function writeCursor({ events, corrections, notifications, identity }: Cursor): string {
  const ofCorrections = corrections === null ? '' : `;c:${writeOffsets(corrections.offsets)};k:${corrections.identity}`;
  const ofNotifications = notifications === null ? '' : `;n:${notifications}`;
  const ofLog = identity === null ? '' : `;l:${identity}`;
  return `${writeOffsets(events)}${ofCorrections}${ofNotifications}${ofLog}`;
}

function writeOffsets(offsets: ReadonlyMap<number, number>): string {
  return [...offsets].map(([partition, offset]) => `${partition}:${offset}`).join(',');
}

/** @returns null if the text is not a cursor */
export function readCursor(text: string): Cursor | null {
  if (text.length > MAX_CURSOR_CHARACTERS) return null;
  const [isCursor, offsets = '', ofCorrections, correctionsIdentity = '', number, identity = null] =
    CURSOR.exec(text) ?? [];
  if (isCursor === undefined) return null;
  const events = readOffsets(offsets);
  const corrected = ofCorrections === undefined ? undefined : readOffsets(ofCorrections);
  if (events === null || corrected === null) return null;
  const corrections = corrected === undefined ? null : { offsets: corrected, identity: correctionsIdentity };
  return { events, corrections, notifications: number === undefined ? null : Number(number), identity };
}

function readOffsets(text: string): Map<number, number> | null {
  const offsets = new Map<number, number>();
  for (const part of text === '' ? [] : text.split(',')) {
    const match = /^(\d{1,5}):(\d{1,15})$/.exec(part);
    if (!match) return null;
    offsets.set(Number(match[1]), Number(match[2]));
  }
  return offsets;
}

/** Parses a message. An error is a sentence that says what is wrong and where. */
export function parseClientMessage(text: string): ClientMessage | { error: string } {
  let message: Record<string, unknown>;
  try {
    message = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { error: 'the message is not JSON' };
  }
  if (message === null || typeof message !== 'object' || Array.isArray(message))
    return { error: 'the message must be a JSON object' };

  switch (message.type) {
    case 'authorize': {
      const extra = unknownField(message, ['type', 'jwt']);
      if (extra) return { error: extra };
      if (typeof message.jwt !== 'string') return { error: '/jwt must be a string' };
      return { type: 'authorize', jwt: message.jwt };
    }
    case 'unsubscribe':
    case 'ping': {
      const extra = unknownField(message, ['type']);
      return extra ? { error: extra } : { type: message.type };
    }
    case 'subscribe':
      return parseSubscribe(message);
    default:
      return { error: '/type must be "authorize", "subscribe", "unsubscribe" or "ping"' };
  }
}

function parseSubscribe(message: Record<string, unknown>): ClientMessage | { error: string } {
  const extra = unknownField(message, ['type', 'vehicles', 'groups', 'all', ...SWITCH_NAMES, 'since']);
  if (extra) return { error: extra };
  for (const name of ['all', ...SWITCH_NAMES])
    if (message[name] !== undefined && typeof message[name] !== 'boolean')
      return { error: `/${name} must be true or false` };

  const vehicles = parseIds(message, 'vehicles');
  if (vehicles instanceof Error) return { error: vehicles.message };
  const groups = parseIds(message, 'groups');
  if (groups instanceof Error) return { error: groups.message };
  if (vehicles === null && groups === null && message.all !== true)
    return { error: 'the subscription must contain "vehicles", "groups" or "all": true' };
  if (message.all === true && (vehicles !== null || groups !== null))
    return { error: '"all" cannot be combined with "vehicles" and "groups"' };

  let since: Cursor | null = null;
  if (message.since !== undefined && message.since !== null) {
    since = typeof message.since === 'string' ? readCursor(message.since) : null;
    if (since === null) return { error: '/since must be a cursor from an earlier message' };
  }
  if (message.corrections === true && message.events === false) return { error: '/corrections requires "events"' };
  const defaults = message.events === false ? { ...SWITCHES, corrections: false } : SWITCHES;
  const switches = Object.fromEntries(SWITCH_NAMES.map((name) => [name, message[name] ?? defaults[name]]));
  return {
    type: 'subscribe',
    vehicles: vehicles as ReadonlySet<VehicleId> | null,
    groups: groups as ReadonlySet<GroupId> | null,
    ...(switches as Record<keyof typeof SWITCHES, boolean>),
    since,
  };
}

function parseIds(message: Record<string, unknown>, name: string): ReadonlySet<string> | null | Error {
  const list = message[name];
  if (list === undefined) return null;
  if (!Array.isArray(list)) return new Error(`/${name} must be a list of ids`);
  if (list.length > MAX_LISTED) return new Error(`/${name} lists more than ${MAX_LISTED} ids`);
  const ids = list.map((id) => (typeof id === 'string' ? readUuid(id) : null));
  const wrong = ids.indexOf(null);
  return wrong >= 0 ? new Error(`/${name}/${wrong} is not a UUID`) : new Set(ids as string[]);
}

function unknownField(message: Record<string, unknown>, known: readonly string[]): string | null {
  const extra = Object.keys(message).find((name) => !known.includes(name));
  if (extra === undefined) return null;
  const name = extra.length > MAX_NAME_CHARACTERS ? `${extra.slice(0, MAX_NAME_CHARACTERS)}…` : extra;
  return `/${name} is not a field of "${message.type}"; known fields: ${known.join(', ')}`;
}
