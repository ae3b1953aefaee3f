import { readFileSync } from 'node:fs';
import { ALARMS, END_REASONS, EVENT_KINDS, SENSOR_KINDS } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PROTOCOLS } from './connections.ts';
import { parseClientMessage, readCursor, writeCursor } from './messages.ts';

const CAR = '0190a000-0000-7000-8000-000000000001';
const parse = (message: unknown) => parseClientMessage(JSON.stringify(message));

test('what is left out of a subscription has the meaning that a reader expects', () => {
  expect(parse({ type: 'subscribe', all: true })).toEqual({
    type: 'subscribe',
    vehicles: null,
    groups: null,
    positions: true,
    states: false,
    counters: false,
    batch: false,
    delays: false,
    unread: false,
    definitions: false,
    events: true,
    corrections: true,
    notifications: true,
    videoTasks: true,
    commands: true,
    reportJobs: true,
    incidents: false,
    since: null,
  });
  expect(
    parse({
      type: 'subscribe',
      vehicles: [CAR],
      positions: false,
      notifications: false,
      videoTasks: false,
      commands: false,
      reportJobs: false,
      since: '0:42',
    }),
  ).toEqual({
    type: 'subscribe',
    vehicles: new Set([CAR]),
    groups: null,
    positions: false,
    states: false,
    counters: false,
    batch: false,
    delays: false,
    unread: false,
    definitions: false,
    events: true,
    corrections: true,
    notifications: false,
    videoTasks: false,
    commands: false,
    reportJobs: false,
    incidents: false,
    since: { events: new Map([[0, 42]]), corrections: null, notifications: null, identity: null },
  });
});

test.each([
  ['not JSON', 'the message is not JSON'],
  ['[]', 'the message must be a JSON object'],
  ['null', 'the message must be a JSON object'],
  ['{"type":"shout"}', '/type must be "authorize", "subscribe", "unsubscribe" or "ping"'],
  ['{"type":"ping","id":1}', '/id is not a field of "ping"; known fields: type'],
  ['{"type":"authorize"}', '/jwt must be a string'],
  ['{"type":"authorize","jwt":"x","as":"admin"}', '/as is not a field of "authorize"; known fields: type, jwt'],
  ['{"type":"unsubscribe","vehicles":[]}', '/vehicles is not a field of "unsubscribe"; known fields: type'],
  [
    '{"type":"subscribe","all":true,"vehicleIds":[]}',
    '/vehicleIds is not a field of "subscribe"; known fields: type, vehicles, groups, all, positions, states, counters, batch, delays, events, corrections, notifications, unread, videoTasks, commands, reportJobs, incidents, definitions, since',
  ],
  ['{"type":"subscribe"}', 'the subscription must contain "vehicles", "groups" or "all": true'],
  ['{"type":"subscribe","all":true,"groups":[]}', '"all" cannot be combined with "vehicles" and "groups"'],
  ['{"type":"subscribe","all":"yes"}', '/all must be true or false'],
  ['{"type":"subscribe","vehicles":"car"}', '/vehicles must be a list of ids'],
  [`{"type":"subscribe","vehicles":["${CAR}","car"]}`, '/vehicles/1 is not a UUID'],
  ['{"type":"subscribe","all":true,"events":false,"corrections":true}', '/corrections requires "events"'],
  ['{"type":"subscribe","all":true,"since":"yesterday"}', '/since must be a cursor from an earlier message'],
])('%s is answered with what is wrong', (text, error) => {
  expect(parseClientMessage(text)).toEqual({ error });
});

test('any text is either a message or an error, never an exception', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => typeof parseClientMessage(text) === 'object'));
});

test('a cursor reads as it was written', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(
        fc.tuple(
          fc.nat(99_999),
          fc.maxSafeNat().map((n) => n % 1e15),
        ),
        { selector: ([p]) => p },
      ),
      fc.option(fc.maxSafeNat().map((n) => n % 1e15)),
      fc.option(fc.stringMatching(/^[0-9a-f]{16}$/)),
      fc.option(fc.tuple(fc.nat(99_999), fc.nat(1e9))),
      (pairs, notifications, identity, corrected) => {
        const corrections = corrected && { offsets: new Map([corrected]), identity: 'ab12' };
        const cursor = { events: new Map(pairs), corrections, notifications, identity };
        expect(readCursor(writeCursor(cursor))).toEqual(cursor);
      },
    ),
  );
});

test.each([
  'x',
  '0',
  '0:1;',
  '0:1;n:',
  '0:1;n:x',
  ';n:1;n:2',
  ' ',
  '0:1,',
  '0:1;m:2',
  '0:1;l:',
  '0:1;l:a b',
  ';l:a;n:1',
  '123456:1',
  '0:1;c:0:1',
  '0:1;c:0;k:a',
  '0:1;n:1;c:0:1;k:a',
  '0:1;k:a',
])('%s is no cursor', (text) => {
  expect(readCursor(text)).toBeNull();
});

test('a cursor of a client without events, or from the very beginning, is one', () => {
  expect(readCursor('')).toEqual({ events: new Map(), corrections: null, notifications: null, identity: null });
  expect(readCursor(';n:7')).toEqual({ events: new Map(), corrections: null, notifications: 7, identity: null });
});

test('the subprotocols are those of schemas/asyncapi.json', () => {
  const document = JSON.parse(readFileSync(new URL('../../../../schemas/asyncapi.json', import.meta.url), 'utf8'));
  const { headers } = document.channels.live.bindings.ws;
  expect(PROTOCOLS).toEqual(headers.properties['Sec-WebSocket-Protocol'].enum);
});

test('the AsyncAPI document lists all that an event may say of its kind, its alarm, its sensor and its end', () => {
  const url = new URL('../../../../schemas/asyncapi.json', import.meta.url);
  const { schemas } = JSON.parse(readFileSync(url, 'utf8')).components;
  const { kind, endReason } = schemas.event.properties;
  expect(kind.enum).toEqual(EVENT_KINDS);
  expect(schemas.alarm.enum).toEqual(ALARMS);
  expect(schemas.sensorKind.enum).toEqual(SENSOR_KINDS);
  expect(endReason.anyOf).toEqual([{ type: 'string', enum: END_REASONS }, { type: 'null' }]);
});
