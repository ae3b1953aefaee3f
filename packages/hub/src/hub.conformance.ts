import { blankPosition, type VehicleId } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Hub, LatestPosition } from './hub.ts';

const PATIENCE = { timeout: 20_000, interval: 10 };

const NOW = Date.UTC(2026, 0, 1);
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;
const VAN = '0190a000-0000-7000-8000-000000000002' as VehicleId;

function seen(vehicleId: VehicleId, fixTimeMs: number): LatestPosition {
  return { vehicleId, position: blankPosition(fixTimeMs, 52.5, 13.4), receivedAtMs: fixTimeMs + 1000 };
}

/** What every hub promises. */
export function hubConformance(name: string, open: () => Promise<Hub>): void {
  describe(`hub: ${name}`, () => {
    let hub: Hub;
    beforeEach(async () => {
      hub = await open();
    });
    afterEach(() => hub.close());

    test('the latest position of a vehicle is that of its newest fix, whatever the order', async () => {
      await hub.updateLatest([seen(CAR, NOW)]);
      await hub.updateLatest([seen(CAR, NOW - 5000), seen(VAN, NOW)]);
      expect(await hub.latest([CAR, VAN])).toEqual([seen(CAR, NOW), seen(VAN, NOW)]);
    });

    test('a vehicle never seen has no latest position', async () => {
      expect(await hub.latest([CAR])).toEqual([]);
    });

    test('listeners hear what is new, and only that, until they leave', async () => {
      const heard: LatestPosition[] = [];
      const leave = await hub.onLatest((entries) => heard.push(...entries));
      await hub.updateLatest([seen(CAR, NOW)]);
      await hub.updateLatest([seen(CAR, NOW)]);
      await vi.waitFor(() => expect(heard).toEqual([seen(CAR, NOW)]), PATIENCE);
      await leave();
      await hub.updateLatest([seen(CAR, NOW + 1000)]);
      await hub.latest([CAR]);
      expect(heard).toHaveLength(1);
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

    test('unknown terminals are listed with first and last sight, newest first', async () => {
      await hub.noteUnknownTerminal('356307042441013', 'teltonika', '192.0.2.1', NOW);
      await hub.noteUnknownTerminal('7001', 'wialon-ips', '192.0.2.2', NOW + 1);
      await hub.noteUnknownTerminal('356307042441013', 'teltonika', '192.0.2.9', NOW + 2);
      expect(await hub.unknownTerminals()).toEqual([
        {
          terminalId: '356307042441013',
          protocol: 'teltonika',
          address: '192.0.2.9',
          firstSeenMs: NOW,
          lastSeenMs: NOW + 2,
          attempts: 2,
        },
        {
          terminalId: '7001',
          protocol: 'wialon-ips',
          address: '192.0.2.2',
          firstSeenMs: NOW + 1,
          lastSeenMs: NOW + 1,
          attempts: 1,
        },
      ]);
    });

    test('what is published on a channel is heard by all who listen to it, in order, until they leave', async () => {
      const one: string[] = [];
      const two: string[] = [];
      const other: string[] = [];
      await hub.publish('told', 'before');
      const leave = await hub.subscribe('told', (message) => one.push(message));
      const stay = await hub.subscribe('told', (message) => two.push(message));
      await hub.subscribe('other', (message) => other.push(message));
      for (const message of ['a', 'b', 'c']) await hub.publish('told', message);
      await vi.waitFor(
        () =>
          expect([one, two]).toEqual([
            ['a', 'b', 'c'],
            ['a', 'b', 'c'],
          ]),
        PATIENCE,
      );
      await leave();
      await hub.publish('told', 'd');
      await hub.publish('other', 'e');
      await vi.waitFor(() => expect([two.at(-1), other]).toEqual(['d', ['e']]), PATIENCE);
      expect(one).toHaveLength(3);
      await stay();
      await hub.publish('told', 'f');
      const again: string[] = [];
      await hub.subscribe('told', (message) => again.push(message));
      await hub.publish('told', 'g');
      await vi.waitFor(() => expect(again).toEqual(['g']), PATIENCE);
      expect(two).toHaveLength(4);
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
