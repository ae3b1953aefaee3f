import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  type EventId,
  type FleetEvent,
  type GroupId,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { type Log, openSqliteLog } from '@outrider/log';
import { Metrics } from '@outrider/runtime';
import { expect } from 'vitest';
import { type Answer, World } from '../api.fixture.ts';

export const PATIENCE = { timeout: 60_000, interval: 10 };
export const T0 = Date.UTC(2026, 0, 15, 11);
export const EVENTS = '/api/v1/feed/events';
export const POSITIONS = '/api/v1/feed/positions';

export let folder: string;
export let log: Log;
export let metrics: Metrics;
export let world: World;
export let operator: { user: User; jwt: string };
export let anna: { user: User; jwt: string };
export let north: GroupId;
export let south: GroupId;
export let van: VehicleId;
export let truck: VehicleId;
export let readers: ReadableStreamDefaultReader<Uint8Array>[];

export async function openFeeds(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'feeds-'));
  log = openLog();
  metrics = new Metrics();
  readers = [];
  world = await World.open({}, { log, metrics });
  operator = await world.member('boss', 'operator');
  [north, south] = (await Promise.all(
    ['North', 'South'].map(async (name) => (await world.registry.groups.create({ name, dealerId: null })).id),
  )) as [GroupId, GroupId];
  anna = await world.member('anna', 'user', { groupIds: [north] });
  [van, truck] = (await Promise.all([north, south].map(async (groupId) => (await addVehicle([groupId])).id))) as [
    VehicleId,
    VehicleId,
  ];
}

export async function closeFeeds(): Promise<void> {
  for (const reader of readers) await reader.cancel();
  await world.close();
  await log.close();
  await rm(folder, { recursive: true });
}

export const openLog = (more: object = {}, name = 'log') =>
  openSqliteLog({ path: join(folder, `${name}.sqlite`), partitions: 3, startsRun: true, ...more });
let vehicles = 0;
export const addVehicle = (groupIds: GroupId[]) =>
  world.registry.vehicles.create(sampleVehicleFields({ name: `vehicle ${++vehicles}`, groupIds }));

let made = 0;
export function event(vehicleId: VehicleId, more: Partial<FleetEvent> = {}): FleetEvent {
  const nth = ++made;
  return {
    id: `01961f3c-0000-7000-8000-${String(nth).padStart(12, '0')}` as EventId,
    kind: 'ignition',
    phase: 'begin',
    vehicleId,
    startedAtMs: T0 + nth * 1000,
    endedAtMs: null,
    latitude: 59.9,
    longitude: 30.3,
    speedKmh: null,
    fromFixTimeMs: T0,
    fixTimeMs: T0 + nth * 1000,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
    ...more,
  } as FleetEvent;
}
/** Received after its fixes: what is far ahead of its reception is no position. */
export const packet = (
  vehicleId: VehicleId,
  seconds: readonly number[],
  receivedAtMs = T0 + Math.max(3600, ...seconds) * 1000,
): TelemetryPacket => ({
  vehicleId,
  terminalId: '356307042441013' as TerminalId,
  protocol: 'teltonika',
  receivedAtMs,
  positions: seconds.map((second) => blankPosition(T0 + second * 1000, 59.9, 30.3)),
});

export const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
export const read = async (path: string, jwt = operator.jwt): Promise<Answer['body']> => {
  const { status, body } = await world.call('GET', path, { jwt });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
export const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);
export const from = (path: string, cursor: string, more = '') => `${path}?cursor=${cursor}${more}`;

/** All that there is, page after page. */
export async function readAll(path: string, cursor: string | null, jwt = operator.jwt, limit = 1000) {
  const items: Answer['body'][] = [];
  let next = cursor;
  for (;;) {
    const page = await read(`${path}?limit=${limit}&${next === null ? 'from=earliest' : `cursor=${next}`}`, jwt);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    next = page.nextCursor as string;
    if (page.lagSeconds === 0 && page.items.length === 0) return { items, cursor: next };
  }
}

/** A stream, message by message. */
export async function open(path: string, accept: string, headers: Record<string, string> = {}, jwt = operator.jwt) {
  const authorization = headers.authorization ?? `JWT ${jwt}`;
  const request = new Request(`http://outrider.test${path}`, { headers: { ...headers, authorization, accept } });
  const response = await world.api.fetch(request, { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never });
  expect(response.status, response.status === 200 ? '' : await response.text()).toBe(200);
  expect(response.headers.get('content-type')).toBe(accept);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  readers.push(reader);
  let text = '';
  const decoder = new TextDecoder();
  const separator = accept === 'text/event-stream' ? '\n\n' : '\n';
  return {
    cancel: () => reader.cancel(),
    /** The next message; null at the end. */
    async next(): Promise<string | null> {
      while (!text.includes(separator)) {
        const { value, done } = await reader.read();
        if (done) return null;
        text += decoder.decode(value, { stream: true });
      }
      const message = text.slice(0, text.indexOf(separator));
      text = text.slice(message.length + separator.length);
      return message;
    },
    /** The next message that is no heartbeat. */
    async line(): Promise<Answer['body']> {
      for (;;) {
        const message = await this.next();
        if (message === null) return null;
        const data = accept === 'text/event-stream' ? (/^data: (.*)$/m.exec(message)?.[1] ?? '{}') : message;
        const json = JSON.parse(data);
        if (json.type !== 'heartbeat') return { ...json, id$: /^id: (.*)$/m.exec(message)?.[1] };
      }
    },
  };
}
export const NDJSON = 'application/x-ndjson';
export const SSE = 'text/event-stream';

/** The API and the log as a new process opens them; accounts and definitions stay. */
export async function restart(options: object = {}, name = 'log'): Promise<void> {
  world.api.endFeeds();
  await log.close();
  log = openLog(options, name);
  metrics = new Metrics();
  world.api = world.remake({ log, metrics });
}
