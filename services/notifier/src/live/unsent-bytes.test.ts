import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Debtor, UnsentBytes } from './unsent-bytes.ts';

/** Peers that take nothing; what ended each of them, in turn. */
function peers(maxBytes: number) {
  const all: (Debtor & { name: string; owe(bytes: number, written?: number): void })[] = [];
  const ended: string[] = [];
  const counts: number[] = [];
  const unsent = new UnsentBytes(
    maxBytes,
    () => all,
    (count) => counts.push(count),
  );
  const add = (name: string, owner = name) => {
    const peer = {
      name,
      owner,
      open: true,
      droppableBytes: 0,
      writtenBytes: 0,
      get unsentBytes() {
        return this.droppableBytes + this.writtenBytes;
      },
      owe(droppable: number, written = 0) {
        this.droppableBytes += droppable;
        this.writtenBytes += written;
        unsent.add(droppable + written);
      },
      disconnect() {
        ended.push(`disconnect ${name}`);
        this.open = false;
        this.owe(-this.droppableBytes);
      },
      terminate() {
        ended.push(`terminate ${name}`);
        this.open = false;
        this.owe(-this.droppableBytes, -this.writtenBytes);
      },
    };
    all.push(peer);
    return peer;
  };
  return { unsent, add, ended, counts };
}

test('beyond the bound those with the most are disconnected, no more than needed', async () => {
  const { unsent, add, ended, counts } = peers(1000);
  const [small, large, larger] = [add('small'), add('large'), add('larger')];
  small.owe(200);
  large.owe(390, 10);
  larger.owe(390, 20);
  expect(unsent.total).toBe(1010);
  await nextTurn();
  expect(ended).toEqual(['disconnect larger']);
  expect([unsent.total, counts]).toEqual([620, [1]]);
});

test('what is taken by the end of the turn disconnects nobody', async () => {
  const { unsent, add, ended } = peers(1000);
  const fast = add('fast');
  fast.owe(0, 5000);
  fast.owe(0, -5000);
  await nextTurn();
  expect([unsent.total, ended]).toEqual([0, []]);
});

test('connections are ended at once where dropping what waits is not enough', async () => {
  const { unsent, add, ended, counts } = peers(1000);
  for (const name of ['a', 'b', 'c', 'd']) add(name).owe(name === 'd' ? 10 : 0, 400);
  await nextTurn();
  expect(ended).toEqual(['disconnect d', 'terminate a', 'terminate b']);
  expect([unsent.total, counts]).toEqual([800, [3]]);
});

test('memory is scarce from half of the bound on', () => {
  const { unsent, add } = peers(1000);
  const peer = add('peer');
  peer.owe(500);
  expect(unsent.isScarce).toBe(false);
  peer.owe(1);
  expect(unsent.isScarce).toBe(true);
});

test('an account pays for all of its connections before anybody else does', async () => {
  const { add, ended } = peers(1000);
  const neighbour = add('neighbour');
  neighbour.owe(300);
  for (let nth = 0; nth < 10; nth++) add(`noisy ${nth}`, 'noisy').owe(100);
  await nextTurn();
  expect(ended.length).toBeGreaterThan(0);
  expect(ended.filter((each) => each.includes('neighbour'))).toEqual([]);
  expect(neighbour.open).toBe(true);
});
