import { blankPosition, type Position } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StoredPositions } from './stored-positions.ts';

const position = (number: number): Position => blankPosition(number, 1, 1);

test('what is not acknowledged is taken again, in order, whatever happens on the way', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 900 }) }),
    fc.record({ do: fc.constant('take' as const), count: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ do: fc.constant('acknowledge' as const), count: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ do: fc.constant('rewind' as const), count: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const store = new StoredPositions(1000);
      // The plain way to say the same.
      let stored: number[] = [];
      let underWay = 0;
      let [recorded, acknowledged, dropped] = [0, 0, 0];
      for (const { do: what, count } of steps) {
        if (what === 'add') {
          const numbers = Array.from({ length: count }, () => recorded++);
          store.add(numbers.map(position));
          stored.push(...numbers);
          const over = Math.max(0, Math.min(stored.length - 1000, stored.length - underWay));
          stored.splice(underWay, over);
          dropped += over;
        } else if (what === 'take') {
          const expected = stored.slice(underWay, underWay + count);
          underWay += expected.length;
          expect(store.take(count).map(({ fixTimeMs }) => fixTimeMs)).toEqual(expected);
        } else if (what === 'acknowledge') {
          const arrived = Math.min(count, underWay);
          store.acknowledge(arrived);
          stored = stored.slice(arrived);
          underWay -= arrived;
          acknowledged += arrived;
        } else {
          store.rewind();
          underWay = 0;
        }
        expect([store.size, store.acknowledged, store.dropped]).toEqual([stored.length, acknowledged, dropped]);
      }
    }),
  );
});

test('waiting for it to be empty ends when it is, or when it is abandoned', async () => {
  const store = new StoredPositions(10);
  await store.emptied();
  store.add([position(1)]);
  const emptied = store.emptied();
  store.acknowledge(store.take(1).length);
  await emptied;
  store.add([position(2)]);
  const never = store.emptied();
  store.abandon(new Error('closed'));
  await expect(never).rejects.toThrow('closed');
});
