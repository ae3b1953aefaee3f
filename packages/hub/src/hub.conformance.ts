import { blankPosition, type EventId, type TerminalId, type VehicleId, type VehicleStatus } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Hub, RefusedContact } from './hub.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const contact: RefusedContact = {
  transport: 'tcp',
  reason: 'bad-frame',
  detail: 'a line begins with 0x78',
  receivedBytes: 300,
  firstBytes: '7878',
};
const NOW = Date.UTC(2026, 0, 1);
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const VAN = '0190a000-0000-7000-8000-000000000002' as VehicleId;
const TRIP = '0190a000-0000-7000-8000-000000000009' as EventId;

function seen(vehicleId: VehicleId, fixTimeMs: number, more: Partial<VehicleStatus> = {}): VehicleStatus {
  return sampleStatus(vehicleId, blankPosition(fixTimeMs, 52.5, 13.4), fixTimeMs + 1000, more);
}

/** What every hub promises. */
export function hubConformance(name: string, open: () => Promise<Hub>): void {
  describe(`hub: ${name}`, () => {
    let hub: Hub;
    beforeEach(async () => {
      hub = await open();
    });
    afterEach(() => hub.close());

    test('the status of a vehicle is the newest one, whatever the order', async () => {
      await hub.updateLatest([seen(CAR, NOW)]);
      await hub.updateLatest([seen(CAR, NOW - 5000), seen(VAN, NOW)]);
      expect(await hub.latest([CAR, VAN])).toEqual([seen(CAR, NOW), seen(VAN, NOW)]);
    });

    test('a vehicle never seen has no status', async () => {
      expect(await hub.latest([CAR])).toEqual([]);
    });

    test('a status keeps the last record and the last position apart, and what the rules say', async () => {
      const record = { ...blankPosition(NOW + 30_000, 0, 0), valid: false, supplyV: 11.9, attributes: { io21: 2 } };
      const blind = seen(CAR, NOW, {
        asOfMs: NOW + 31_000,
        record,
        recordReceivedAtMs: NOW + 31_000,
        lastContactAtMs: NOW + 31_000,
        protocol: 'teltonika',
        activity: {
          state: 'parking',
          sinceMs: NOW,
          ignition: false,
          alarms: ['sos'],
          geofenceIds: [],
          speeding: [null],
        },
        trip: { id: TRIP, startedAtMs: NOW - 1000, distanceM: 812.5, movingMs: 1000, idlingMs: 0, maxKmh: 41 },
      });
      const placeless = { ...blind, vehicleId: VAN, position: null, receivedAtMs: null };
      const received: VehicleStatus[] = [];
      await hub.onLatest((statuses) => received.push(...statuses));
      await hub.updateLatest([blind, placeless]);
      expect(await hub.latest([CAR, VAN])).toEqual([blind, placeless]);
      await vi.waitFor(() => expect(received).toEqual([blind, placeless]), PATIENCE);
    });

    test('of two statuses as of the same moment, the later one counts', async () => {
      const received: VehicleStatus[] = [];
      await hub.onLatest((statuses) => received.push(...statuses));
      const first = seen(CAR, NOW);
      const second = { ...first, protocol: 'jt808' as const };
      await hub.updateLatest([first, second]);
      await hub.updateLatest([second]);
      expect(await hub.latest([CAR])).toEqual([second]);
      await vi.waitFor(() => expect(received.at(-1)).toEqual(second), PATIENCE);
      expect(received.filter(({ protocol }) => protocol === 'jt808')).toHaveLength(1);
    });

    test('a deleted vehicle is forgotten', async () => {
      await hub.updateLatest([seen(CAR, NOW), seen(VAN, NOW)]);
      await hub.forgetLatest([CAR]);
      expect(await hub.latest([CAR, VAN])).toEqual([seen(VAN, NOW)]);
      // Whatever it was as of, an older status of a vehicle with this id would be news.
      await hub.updateLatest([seen(CAR, NOW - 5000)]);
      expect(await hub.latest([CAR])).toEqual([seen(CAR, NOW - 5000)]);
    });

    test('terminals are connected to the gateway that they came to last', async () => {
      const [one, two] = ['1', '2'] as TerminalId[] as [TerminalId, TerminalId];
      const at = (address: string) => ({ protocol: 'teltonika', address, sinceMs: NOW });
      expect(await hub.connections([one])).toEqual(new Map());
      expect(await hub.noteConnections('a', [{ terminalId: one, connection: at('192.0.2.1') }])).toBe(false);
      expect(await hub.noteConnections('a', [{ terminalId: two, connection: at('192.0.2.2') }])).toBe(true);
      // It comes to another gateway, and the first one notices later.
      await hub.noteConnections('b', [{ terminalId: one, connection: at('192.0.2.9') }]);
      await hub.noteConnections('a', [{ terminalId: one, connection: null }]);
      expect(await hub.connections([two, one])).toEqual(
        new Map([
          [two, at('192.0.2.2')],
          [one, at('192.0.2.9')],
        ]),
      );
      await hub.noteConnections('b', [{ terminalId: one, connection: null }]);
      expect(await hub.connections([one])).toEqual(new Map());
      expect(await hub.connections([])).toEqual(new Map());
    });

    test('listeners hear what is new, and only that, until they leave', async () => {
      const received: VehicleStatus[] = [];
      const leave = await hub.onLatest((entries) => received.push(...entries));
      await hub.updateLatest([seen(CAR, NOW)]);
      await hub.updateLatest([seen(CAR, NOW)]);
      await vi.waitFor(() => expect(received).toEqual([seen(CAR, NOW)]), PATIENCE);
      await leave();
      await hub.updateLatest([seen(CAR, NOW + 1000)]);
      await hub.latest([CAR]);
      expect(received).toHaveLength(1);
    });

    test('hits add up within a window that begins with the first', async () => {
      expect(await hub.hit('ip:192.0.2.1', 60_000, NOW)).toEqual({ hits: 1, resetsAtMs: NOW + 60_000 });
      expect(await hub.hit('ip:192.0.2.1', 60_000, NOW + 59_999)).toEqual({ hits: 2, resetsAtMs: NOW + 60_000 });
      expect(await hub.hit('ip:192.0.2.1', 60_000, NOW + 60_000)).toEqual({ hits: 1, resetsAtMs: NOW + 120_000 });
      expect((await hub.hit('ip:192.0.2.2', 60_000, NOW)).hits).toBe(1);
    });

    test('a hit can be taken back, a count forgotten', async () => {
      await hub.hit('user:1', 60_000, NOW);
      await hub.hit('user:1', 60_000, NOW);
      await hub.unhit('user:1');
      expect((await hub.hit('user:1', 60_000, NOW)).hits).toBe(2);
      await hub.resetCount('user:1');
      expect((await hub.hit('user:1', 60_000, NOW)).hits).toBe(1);
    });

    test('a block lasts until its end, and never gets shorter', async () => {
      expect(await hub.blockedUntil('user:1', NOW)).toBeNull();
      await hub.block('user:1', NOW + 60_000);
      await hub.block('user:1', NOW + 30_000);
      expect(await hub.blockedUntil('user:1', NOW + 59_999)).toBe(NOW + 60_000);
      expect(await hub.blockedUntil('user:1', NOW + 60_000)).toBeNull();
    });

    test('a lease has one holder, who may renew it or give it up; it ends by itself', async () => {
      expect(await hub.holdLease('broker', 'one', 60_000)).toBe(true);
      expect(await hub.holdLease('broker', 'two', 60_000)).toBe(false);
      expect(await hub.holdLease('other', 'two', 60_000)).toBe(true);
      expect(await hub.holdLease('broker', 'one', 60_000)).toBe(true);
      await hub.releaseLease('broker', 'two');
      expect(await hub.holdLease('broker', 'two', 60_000)).toBe(false);
      await hub.releaseLease('broker', 'one');
      expect(await hub.holdLease('broker', 'two', 20)).toBe(true);
      await vi.waitFor(async () => expect(await hub.holdLease('broker', 'one', 60_000)).toBe(true), PATIENCE);
    });

    test('unknown terminals are listed with first and last sight, newest first', async () => {
      await hub.noteUnknownTerminal('356307042441013', 'teltonika', '192.0.2.1', NOW);
      await hub.noteUnknownTerminal('7001', 'wialon-ips', '192.0.2.2', NOW + 1, contact);
      await hub.noteUnknownTerminal('356307042441013', 'teltonika', '192.0.2.9', NOW + 2);
      expect(await hub.unknownTerminals()).toEqual([
        {
          terminalId: '356307042441013',
          protocol: 'teltonika',
          address: '192.0.2.9',
          firstSeenMs: NOW,
          lastSeenMs: NOW + 2,
          attempts: 2,
          contact: null,
        },
        {
          terminalId: '7001',
          protocol: 'wialon-ips',
          address: '192.0.2.2',
          firstSeenMs: NOW + 1,
          lastSeenMs: NOW + 1,
          attempts: 1,
          contact,
        },
      ]);
      expect(await hub.refusedTerminal('7001')).toMatchObject({ protocol: 'wialon-ips', attempts: 1, contact });
      expect(await hub.refusedTerminal('7002')).toBeNull();
    });

    test('what is published on a channel is received by all who listen to it, in order, until they leave', async () => {
      const one: string[] = [];
      const two: string[] = [];
      const other: string[] = [];
      await hub.publish('news', 'before');
      const leave = await hub.subscribe('news', (message) => one.push(message));
      const leaveTwo = await hub.subscribe('news', (message) => two.push(message));
      await hub.subscribe('other', (message) => other.push(message));
      for (const message of ['a', 'b', 'c']) await hub.publish('news', message);
      await vi.waitFor(
        () =>
          expect([one, two]).toEqual([
            ['a', 'b', 'c'],
            ['a', 'b', 'c'],
          ]),
        PATIENCE,
      );
      await leave();
      await hub.publish('news', 'd');
      await hub.publish('other', 'e');
      await vi.waitFor(() => expect([two.at(-1), other]).toEqual(['d', ['e']]), PATIENCE);
      expect(one).toHaveLength(3);
      await leaveTwo();
      await hub.publish('news', 'f');
      const again: string[] = [];
      await hub.subscribe('news', (message) => again.push(message));
      await hub.publish('news', 'g');
      await vi.waitFor(() => expect(again).toEqual(['g']), PATIENCE);
      expect(two).toHaveLength(4);
    });

    test('of each address and protocol the last unknown device is kept, of all the newest 200', async () => {
      const device = { protocol: 'h02', address: '192.0.2.1', contact, guesses: [] };
      const guesses = [
        { protocol: 'gt06', terminalId: '356307042441013' },
        { protocol: 'ruptela', terminalId: null },
      ];
      await hub.noteUnknownDevice(device, NOW);
      await hub.noteUnknownDevice({ ...device, protocol: 'tk103' }, NOW + 1);
      await hub.noteUnknownDevice({ ...device, guesses }, NOW + 2);
      const times = { firstSeenMs: NOW, lastSeenMs: NOW + 2, attempts: 2 };
      expect(await hub.unknownDevices()).toEqual([
        { ...device, guesses, ...times },
        { ...device, protocol: 'tk103', firstSeenMs: NOW + 1, lastSeenMs: NOW + 1, attempts: 1 },
      ]);
      for (let n = 0; n < 205; n++) await hub.noteUnknownDevice({ ...device, address: `192.0.2.${n}` }, NOW + 10 + n);
      const kept = await hub.unknownDevices();
      expect(kept).toHaveLength(200);
      expect(kept.map(({ address }) => address)).not.toContain('192.0.2.4');
    });

    test('of unknown terminals only the newest thousand are kept', async () => {
      for (let n = 0; n < 1010; n++) await hub.noteUnknownTerminal(`t${n}`, 'omnicomm', '192.0.2.1', NOW + n);
      const kept = await hub.unknownTerminals();
      expect(kept).toHaveLength(1000);
      expect(kept[0]?.terminalId).toBe('t1009');
      expect(kept.at(-1)?.terminalId).toBe('t10');
    });
  });
}
