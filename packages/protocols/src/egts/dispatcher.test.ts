import { blankPosition, type TerminalId } from '@outrider/domain';
import { expect, test } from 'vitest';
import type { LetIn } from '../protocol.ts';
import { EgtsDispatcher } from './dispatcher.ts';
import { egts } from './protocol.ts';
import { buildPacket, buildRecord, buildSubrecord, PACKET, SERVICE } from './transport.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const place = (latitude: number) => blankPosition(NOW_MS, latitude, 37);
const answersOf = (taken: ReturnType<ReturnType<typeof egts.createSession>['push']>) =>
  Buffer.concat(
    taken
      .map((inbound) => ('ack' in inbound ? inbound.ack : 'bytes' in inbound ? inbound.bytes : null))
      .filter((b) => b !== null),
  );

test('what a dispatcher sends is what a session of EGTS takes, vehicle by vehicle', () => {
  const letIn: LetIn = ([terminalId], secret) =>
    terminalId === '70001' && secret === 'word' ? { type: 'taken', terminalId } : { type: 'refused' };
  const session = egts.createSession({ letIn });
  const dispatcher = new EgtsDispatcher(42, { user: 'platform', password: 'word' });
  const greeting = session.push(dispatcher.hello(), NOW_MS);
  expect(dispatcher.receive(answersOf(greeting))).toEqual([{ type: 'welcome' }]);

  const { bytes, numbers } = dispatcher.encode([
    { objectId: 70_001, position: place(55) },
    { objectId: 70_002, position: place(56) },
    { objectId: 70_001, position: place(57) },
  ]);
  const taken = session.push(bytes, NOW_MS);
  expect(taken).toMatchObject([{ type: 'positions', terminalId: '70001' as TerminalId }]);
  const latitudes = (taken[0] as { positions: { latitude: number }[] }).positions.map(({ latitude }) =>
    Math.round(latitude),
  );
  expect(latitudes).toEqual([55, 57]);
  const answers = answersOf(taken);
  const replies = [...answers].flatMap((byte) => dispatcher.receive(Buffer.of(byte)));
  expect(replies).toEqual([
    { type: 'record', number: numbers[0], isAccepted: true, result: 0 },
    { type: 'record', number: numbers[1], isAccepted: false, result: 146 },
    { type: 'record', number: numbers[2], isAccepted: true, result: 0 },
  ]);
  // A response counts once.
  expect(dispatcher.receive(answers)).toEqual([]);
});

const response = (packetId: number, result: number) =>
  buildPacket(PACKET.response, 1, Buffer.of(packetId & 0xff, packetId >> 8, result));

test('a response without results is for all records of its packet', () => {
  const dispatcher = new EgtsDispatcher(1);
  const { numbers } = dispatcher.encode([
    { objectId: 1, position: place(1) },
    { objectId: 2, position: place(2) },
  ]);
  expect(dispatcher.receive(response(1, 0))).toMatchObject(numbers.map((number) => ({ number, isAccepted: true })));
  dispatcher.encode([{ objectId: 1, position: place(1) }]);
  expect(dispatcher.receive(response(2, 138))).toMatchObject([{ isAccepted: false, result: 138 }]);
});

test('records that are confirmed by a packet of their own are not confirmed again', () => {
  const dispatcher = new EgtsDispatcher(1);
  const { numbers } = dispatcher.encode([
    { objectId: 1, position: place(1) },
    { objectId: 2, position: place(2) },
  ]);
  const confirmation = buildSubrecord(0, Buffer.of(numbers[0] as number, 0, 0));
  const packet = buildPacket(PACKET.data, 1, buildRecord(9, SERVICE.teledata, confirmation));
  expect(dispatcher.receive(packet)).toMatchObject([{ number: numbers[0], isAccepted: true }]);
  expect(dispatcher.receive(response(1, 0))).toMatchObject([{ number: numbers[1], isAccepted: true }]);
});

test('a login that is refused, and bytes that are no packet', () => {
  const result = buildRecord(1, SERVICE.auth, buildSubrecord(9, Buffer.of(151)));
  expect(new EgtsDispatcher(1).receive(buildPacket(PACKET.data, 1, result))).toEqual([
    { type: 'refused', detail: 'result 151' },
  ]);
  expect(new EgtsDispatcher(1).receive(Buffer.from('HTTP/1.1'))).toMatchObject([{ type: 'refused' }]);
});

test('packets without a response are bounded', () => {
  const dispatcher = new EgtsDispatcher(1);
  while (dispatcher.isReady) dispatcher.encode([{ objectId: 1, position: place(1) }]);
  expect(() => dispatcher.encode([])).toThrow(RangeError);
  dispatcher.receive(response(1, 0));
  expect(dispatcher.isReady).toBe(true);
  expect(() => dispatcher.encode([{ objectId: 0, position: place(1) }])).toThrow(RangeError);
});
