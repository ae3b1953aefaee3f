import type { FleetEvent, Position, TelemetryPacket, TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Engine } from '../engine.ts';
import { changeTo, fix, T0, user, VEHICLE, vehicle } from '../scene.fixture.ts';
import { inFixTimeOrder } from './packet-order.ts';

const packet = (positions: readonly Position[]): TelemetryPacket => ({
  vehicleId: VEHICLE,
  terminalId: '1' as TerminalId,
  protocol: 'teltonika',
  receivedAtMs: T0 + 600_000,
  positions: [...positions],
});

function eventsOf(...packets: readonly Position[][]) {
  const engine = new Engine();
  engine.load([user(), vehicle()].map((each) => changeTo(each)));
  const events: FleetEvent[] = [];
  let moved = 0;
  for (const [offset, positions] of packets.entries()) moved += engine.process(packet(positions), offset, events);
  return { events, moved, late: engine.takeLate() };
}

describe('a packet that is sent newest first', () => {
  const drive = Array.from({ length: 10 }, (_, nth) =>
    fix(60 + nth * 10, 0.1 + nth * 0.001, 0.1, { speedKmh: 40, ignition: true }),
  );

  test.each(drive.map((_, nth) => nth))(
    'makes the alarm known that is in its record %i, and nothing of it is late',
    (nth) => {
      const withAlarm = drive.map((each, at): Position => (at === nth ? { ...each, alarms: ['sos'] } : each));
      const first = [fix(0, 0.1, 0.1, { speedKmh: 0 })];
      const reversed = eventsOf(first, withAlarm.toReversed());
      expect(reversed.late).toEqual([]);
      expect(reversed.moved).toBe(1 + drive.length);
      expect(reversed.events).toEqual(eventsOf(first, withAlarm).events);
      const raised = reversed.events.filter(({ kind, phase }) => kind === 'alarm' && phase === 'begin');
      expect(raised.map(({ fixTimeMs }) => fixTimeMs)).toEqual([withAlarm[nth]?.fixTimeMs]);
    },
  );

  test('is the vehicle’s first: the fix in the packet that is the oldest begins its history', () => {
    expect(eventsOf(drive.toReversed())).toEqual(eventsOf(drive));
  });
});

describe('the order of a packet', () => {
  test('is left alone where it is that of the fixes', () => {
    const positions = [fix(1, 0, 0), fix(1, 0.1, 0), fix(2, 0, 0)];
    expect(inFixTimeOrder(positions)).toBe(positions);
    expect(inFixTimeOrder([])).toEqual([]);
  });

  test('becomes that of the fixes, those of one time as they stood, and the packet stays as it is', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 20 }), (seconds) => {
        const positions = seconds.map((second, nth) => fix(second, nth / 100, 0));
        const before = [...positions];
        const wanted = [0, 1, 2, 3, 4, 5].flatMap((second) =>
          before.filter(({ fixTimeMs }) => fixTimeMs === T0 + second * 1000),
        );
        expect(inFixTimeOrder(positions)).toEqual(wanted);
        expect(positions).toEqual(before);
      }),
    );
  });
});
