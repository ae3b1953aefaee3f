import { expect, test } from 'vitest';
import type { FleetEvent } from './events/index.ts';
import { eventJson } from './json.ts';
import { blankPosition, type TelemetryPacket } from './position.ts';
import { noteCause, noteNoCause, PacketTrace, type TraceId, traceIdOf } from './trace.ts';

const packet = {
  vehicleId: 'v',
  terminalId: 't',
  protocol: 'osmand',
  receivedAtMs: 5000,
  positions: [blankPosition(1000, 0, 0)],
  trace: new PacketTrace(1, -1, 0, 0xabc),
} as unknown as TelemetryPacket;
const id = '00000001ffffffff0000000000000abc';
const event = (kind: string, phase: string) => ({ kind, phase, fixTimeMs: 1000 }) as FleetEvent;

test('events say which packet made them known, and when it came; those before stay as they were', () => {
  const events = [event('trip', 'end'), event('ignition', 'begin'), event('offline', 'end')];
  noteCause(events, 1, packet);
  expect(events.map(({ receivedAtMs, traceId }) => [receivedAtMs, traceId])).toEqual([
    [undefined, undefined],
    [5000, id],
    [5000, id],
  ]);
});

test('a packet without a trace tells when it came', () => {
  const events = [event('ignition', 'begin')];
  noteCause(events, 0, { ...packet, trace: null });
  expect(events).toEqual([{ ...event('ignition', 'begin'), receivedAtMs: 5000 }]);
});

test('that a vehicle is silent is said alike, whoever finds out', () => {
  const [byPacket, byLook] = [[event('offline', 'begin')], [event('offline', 'begin')]];
  noteCause(byPacket, 0, packet);
  noteNoCause(byLook);
  expect(byPacket).toEqual(byLook);
  expect(byLook[0]?.receivedAtMs).toBe(1000);
});

test('the trace of whatever stands in a log is found', () => {
  expect(traceIdOf(packet)).toBe(id);
  expect(traceIdOf({ traceId: id })).toBe(id);
  for (const other of [null, 'text', {}, { ...packet, trace: null }, { traceId: 5 }])
    expect(traceIdOf(other)).toBeUndefined();
});

test('what brought an event about is shown where it is known', () => {
  const times = { startedAtMs: 0, endedAtMs: null, fromFixTimeMs: 0, fixTimeMs: 0 };
  expect(eventJson({ ...times, receivedAtMs: 5000, traceId: id as TraceId } as FleetEvent)).toMatchObject({
    receivedAt: '1970-01-01T00:00:05.000Z',
    traceId: id,
  });
  expect(Object.keys(eventJson(times as FleetEvent))).not.toContain('receivedAt');
});
