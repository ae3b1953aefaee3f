import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { PacketTraces } from './packet-traces.ts';

const drawWord = () => randomInt(2 ** 32) | 0;

test('each packet has an id of its own, which is a trace id', () => {
  const [one, other] = [new PacketTraces(drawWord), new PacketTraces(drawWord)];
  const ids = Array.from({ length: 50_000 }, (_, n) => (n % 2 ? one : other).next().id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids.slice(0, 100)) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(new PacketTraces(() => 0).next().id).toBe('00000000000000000000000100000000');
});

test('a share of the ids by their bits is that share of any interval of packets', () => {
  const traces = new PacketTraces(drawWord);
  for (let interval = 0; interval < 20; interval++) {
    let below = 0;
    for (let n = 0; n < 1000; n++) {
      const { a, b, c, d } = traces.next();
      if ((a ^ b ^ c ^ d) >>> 0 < 2 ** 32 / 10) below++;
    }
    expect(below).toBeGreaterThan(80);
    expect(below).toBeLessThan(120);
  }
});
