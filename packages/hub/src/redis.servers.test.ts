import { blankPosition, type TerminalId, type VehicleId } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { hubConformance } from './hub.conformance.ts';
import { openRedisHub } from './redis.ts';

const url = process.env.REDIS_URL;
const onError = () => {};
const NOW = Date.UTC(2026, 0, 1);

/** Runs where REDIS_URL names a server whose present database may be emptied. */
describe.skipIf(url === undefined)('Redis', () => {
  const at = url as string;
  hubConformance('Redis', async () => {
    const redis = new Redis(at);
    await redis.flushdb();
    await redis.quit();
    return openRedisHub({ url: at, onError });
  });

  test('two instances count as one, and hear of each other', async () => {
    const one = await openRedisHub({ url: at, onError });
    const two = await openRedisHub({ url: at, onError });
    const now = Date.now();
    await one.resetCount('shared');
    await one.hit('shared', 60_000, now);
    expect((await two.hit('shared', 60_000, now)).hits).toBe(2);
    const received = new Promise((resolve) => two.subscribe('news', resolve).then(() => one.publish('news', 'hello')));
    expect(await received).toBe('hello');
    await one.close();
    await two.close();
  });

  test('hubs with different prefixes share nothing', async () => {
    const hubs = [
      await openRedisHub({ url: at, onError }),
      await openRedisHub({ url: at, prefix: 'other', onError }),
    ] as const;
    const [one, two] = hubs;
    const received: string[] = [];
    await two.subscribe('news', (message) => received.push(message));
    await one.publish('news', 'of one');
    await one.hit('shared', 60_000, Date.now());
    await one.noteUnknownTerminal('7001', 'teltonika', '203.0.113.5', Date.now());
    expect((await two.hit('shared', 60_000, Date.now())).hits).toBe(1);
    expect(await two.unknownTerminals()).toEqual([]);
    await two.publish('news', 'of two');
    while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(received).toEqual(['of two']);
    for (const hub of hubs) await hub.close();
  });

  test('entries of versions that stored positions alone are read', async () => {
    const admin = new Redis(at);
    await admin.flushdb();
    const vehicleId = '0190a000-0000-7000-8000-000000000001' as VehicleId;
    const position = blankPosition(NOW, 52.5, 13.4);
    await admin.hset('{outrider}:latest', vehicleId, JSON.stringify({ vehicleId, position, receivedAtMs: NOW + 1000 }));
    await admin.hset('{outrider}:latest-times', vehicleId, NOW);
    const hub = await openRedisHub({ url: at, onError });
    expect(await hub.latest([vehicleId])).toEqual([sampleStatus(vehicleId, position, NOW + 1000)]);
    const next = sampleStatus(vehicleId, position, NOW + 2000);
    await hub.updateLatest([next]);
    expect(await hub.latest([vehicleId])).toEqual([next]);
    await hub.close();
    await admin.quit();
  });

  test('the connections of a gateway that died are forgotten', async () => {
    const admin = new Redis(at);
    const hub = await openRedisHub({ url: at, onError });
    const terminalId = '1' as TerminalId;
    const connection = { protocol: 'teltonika', address: '192.0.2.1', sinceMs: NOW };
    await hub.noteConnections('mortal', [{ terminalId, connection }]);
    expect(await admin.pttl('{outrider}:gateway:mortal')).toBeGreaterThan(0);
    expect((await hub.connections([terminalId])).size).toBe(1);
    await admin.del('{outrider}:gateway:mortal');
    expect((await hub.connections([terminalId])).size).toBe(0);
    // Taken for dead, it is asked for all that it has.
    expect(await hub.noteConnections('mortal', [])).toBe(false);
    await hub.close();
    await admin.quit();
  });

  test('what is listened to is received again after the connection was lost', async () => {
    const admin = new Redis(at);
    const hub = await openRedisHub({ url: at, onError });
    const received: string[] = [];
    await hub.subscribe('news', (message) => received.push(message));
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    while (received.length === 0) {
      await hub.publish('news', 'again').catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(received[0]).toBe('again');
    await hub.close();
    await admin.quit();
  });
});

test('a server that is not there is told by its address, without the password', async () => {
  const opening = openRedisHub({ url: 'redis://me:secret@127.0.0.1:1/0', onError });
  await expect(opening).rejects.toThrow(/Redis at redis:\/\/me:.*@127\.0\.0\.1:1\/0 can't be used: .*ECONNREFUSED/);
  await expect(opening).rejects.not.toThrow('secret');
});
