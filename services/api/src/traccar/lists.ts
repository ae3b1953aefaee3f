import type { Access } from '@outrider/access';
import { type EventKind, isoTime, type VehicleStatus } from '@outrider/domain';
import { allRows, jsonRow, type Question, reportKind } from '@outrider/reports';
import { z } from 'zod';
import {
  ALL_EVENTS,
  type EventFields,
  kindsOfTypes,
  lastPositionOf,
  type PositionFields,
  TRACCAR_EVENT_TYPES,
  traccarDevice,
  traccarEvents,
  traccarGeofence,
  traccarGroup,
  traccarPosition,
  traccarStop,
  traccarSummary,
  traccarTrip,
  traccarUser,
} from './models.ts';
import { dailyFlag, dayOf, listed, numbers, questionOf, range, reported, SeenGroups, vehiclesOf } from './question.ts';

/** Context of a call from an authenticated caller. */
export interface Call {
  access: Access;
  nowMs: number;
  signal: AbortSignal;
}

type Items = readonly unknown[] | AsyncIterable<readonly unknown[]>;

/** A list of Traccar's API: its query and its items. */
export interface List {
  query: z.ZodObject;
  items(query: never, call: Call): Items | Promise<Items>;
}

/** Most rows of a response. */
const MAX_ROWS = 1_000_000;
/** Statuses that are read from the hub at once. */
const STATUSES_AT_ONCE = 1000;
const ALL = { text: '', field: null, descending: false, limit: Number.POSITIVE_INFINITY, after: null };
/** Newest statuses of vehicles. */
export async function statusesOf(
  access: Access,
  ids: readonly VehicleStatus['vehicleId'][],
): Promise<Map<VehicleStatus['vehicleId'], VehicleStatus>> {
  const found = new Map<VehicleStatus['vehicleId'], VehicleStatus>();
  const { sources } = access.reports;
  for (let from = 0; from < ids.length; from += STATUSES_AT_ONCE)
    for (const status of await sources.latest(ids.slice(from, from + STATUSES_AT_ONCE)))
      found.set(status.vehicleId, status);
  return found;
}

/** Position of a status, with the geofences that the caller may see; null before the first position. */
export function shownPosition(access: Access, status: VehicleStatus) {
  const position = lastPositionOf(status);
  const { sources } = access.reports;
  const around = status.activity?.geofenceIds.filter((id) => sources.geofenceName(id) !== null) ?? null;
  return position && traccarPosition(position, status.protocol, around);
}

/** Traccar's lists, by their paths below `/api/`. */
export const TRACCAR_LISTS = {
  devices: {
    query: z.object({ ...listed, id: numbers, uniqueId: z.array(z.string().max(100)).max(1000).optional() }),
    async items({ id, uniqueId }: { id?: number[]; uniqueId?: string[] }, { access }) {
      const groups = new SeenGroups(access);
      const named = vehiclesOf(access, { deviceId: id }, access.vehicles.all());
      const vehicles = named.filter(({ terminalId, id: own }) => uniqueId?.includes(terminalId ?? own) ?? true);
      const seen = new Set(access.reports.vehicles(null).map((vehicle) => vehicle.id));
      const statuses = await statusesOf(
        access,
        vehicles.map((vehicle) => vehicle.id).filter((vehicleId) => seen.has(vehicleId)),
      );
      return vehicles.map((vehicle) => traccarDevice(vehicle, groups.of(vehicle), statuses.get(vehicle.id) ?? null));
    },
  },
  groups: { query: z.object(listed), items: (_, { access }) => new SeenGroups(access).all.map(traccarGroup) },
  geofences: {
    query: z.object(listed),
    items: (_, { access }) => access.geofences.find(ALL).items.map(traccarGeofence),
  },
  users: { query: z.object(listed), items: (_, { access }) => access.users.find(ALL).items.map(traccarUser) },
  positions: {
    query: z.object({ ...reported, id: numbers, from: range.from.optional(), to: range.to.optional() }),
    async items(
      {
        from,
        to,
        id,
        ...named
      }: { from?: number; to?: number; id?: number[]; deviceId?: number[]; groupId?: number[] },
      call,
    ) {
      const { access, nowMs, signal } = call;
      if (from !== undefined || to !== undefined)
        return tracks(questionOf(access, { ...named, from: from ?? 0, to: to ?? nowMs }, nowMs, signal), call);
      const statuses = await statusesOf(
        access,
        vehiclesOf(access, named).map((vehicle) => vehicle.id),
      );
      const positions = [...statuses.values()].map((status) => shownPosition(access, status));
      return positions.filter((position) => position !== null && (id?.includes(position.id) ?? true));
    },
  },
  'reports/route': {
    query: z.object({ ...reported, ...range }),
    items: (asked: Ranged, call) => tracks(questionFor(asked, call), call),
  },
  'reports/events': {
    query: z.object({
      ...reported,
      ...range,
      type: z
        .array(z.enum([ALL_EVENTS, ...TRACCAR_EVENT_TYPES] as [string, ...string[]]))
        .max(100)
        .optional(),
    }),
    items({ type = [ALL_EVENTS], ...asked }: Ranged & { type?: string[] }, call) {
      const question = { ...questionFor(asked, call), eventKinds: kindsOfTypes(type) };
      const isWanted = (of: string, time: string) =>
        (type.includes(ALL_EVENTS) || type.includes(of)) &&
        Date.parse(time) >= question.fromMs &&
        Date.parse(time) < question.toMs;
      return rowsOf('events', question, call, (row) =>
        traccarEvents(eventOfRow(row)).filter(({ type: of, eventTime }) => isWanted(of, eventTime)),
      );
    },
  },
  'reports/trips': {
    query: z.object({ ...reported, ...range }),
    items: (asked: Ranged, call) => rowsOf('trips', questionFor(asked, call), call, (row) => [traccarTrip(row)]),
  },
  'reports/stops': {
    query: z.object({ ...reported, ...range }),
    items: (asked: Ranged, call) => rowsOf('stops', questionFor(asked, call), call, (row) => [traccarStop(row)]),
  },
  'reports/summary': {
    query: z.object({ ...reported, ...range, daily: dailyFlag }),
    items({ daily, ...asked }: Ranged & { daily?: string }, call) {
      const question: Question = { ...questionFor(asked, call), period: daily === 'true' ? 'day' : 'whole' };
      const whole = { from: isoTime(question.fromMs), to: isoTime(question.toMs) };
      return rowsOf('summary', question, call, (row) => [
        traccarSummary(row, daily === 'true' ? dayOf(row.period, question) : whole),
      ]);
    },
  },
} satisfies Readonly<Record<string, List>>;

interface Ranged {
  from: number;
  to: number;
  deviceId?: number[];
  groupId?: number[];
}

function questionFor(asked: Ranged, { access, nowMs, signal }: Call): Question {
  return questionOf(access, asked, nowMs, signal);
}

/** Converts each row of a report to any number of items. */
async function* rowsOf(
  name: string,
  question: Question,
  { access }: Call,
  shown: (row: Record<string, unknown>) => readonly unknown[],
): AsyncGenerator<readonly unknown[]> {
  const kind = reportKind(name);
  if (kind === undefined) throw new Error(`there is no report ${name}`);
  for await (const rows of allRows(kind, access.reports.sources, question, MAX_ROWS))
    yield rows.flatMap((row) => shown(jsonRow(kind.columns, row)));
}

function tracks(question: Question, call: Call): AsyncGenerator<readonly unknown[]> {
  return rowsOf('track', question, call, ({ rejection, ...row }) => {
    if (rejection !== null) return [];
    const known = Object.entries(row).filter(([, value]) => value !== null);
    return [traccarPosition(Object.fromEntries(known) as unknown as PositionFields, null)];
  });
}

function eventOfRow({ geozoneId, ...row }: Record<string, unknown>): EventFields {
  return { ...row, kind: row.kind as EventKind, geofenceId: geozoneId } as EventFields;
}
