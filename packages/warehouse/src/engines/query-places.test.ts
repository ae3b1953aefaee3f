import { expect, test } from 'vitest';
import { BusyError } from './engine.ts';
import { QueryPlaces } from './query-places.ts';

const owner = (account: string, tenant = account) => ({ account, tenant });

const turn = () => new Promise(setImmediate);

/** Queries that end when they are reported to. */
function queries(queue: QueryPlaces<number>) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    ask(name: string, of: ReturnType<typeof owner>, signal?: AbortSignal): Promise<unknown> {
      return queue.take(
        () => {
          begun.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        },
        { owner: of, signal },
      );
    },
    async end(name: string) {
      ends.get(name)?.();
      await turn();
    },
  };
}

test('an owner with many queries delays that of another by the one that runs', async () => {
  const { begun, ask, end } = queries(new QueryPlaces([0], 64));
  const all = Array.from({ length: 10 }, (_, nth) => ask(`loud ${nth}`, owner('loud')));
  all.push(ask('quiet', owner('quiet')));
  await turn();
  await end('loud 0');
  expect(begun).toEqual(['loud 0', 'quiet']);
  await end('quiet');
  for (let nth = 1; nth < 10; nth += 1) await end(`loud ${nth}`);
  await Promise.all(all);
});

test('a tenant holds half of the places at most, whatever its accounts', async () => {
  const { begun, ask, end } = queries(new QueryPlaces([0, 1, 2, 3], 64));
  const all = ['a', 'b', 'c'].map((account) => ask(account, owner(account, 'dealer')));
  await turn();
  expect(begun).toEqual(['a', 'b']);
  all.push(ask('other', owner('other')));
  await turn();
  expect(begun).toEqual(['a', 'b', 'other']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'other', 'c']);
  for (const name of ['b', 'c', 'other']) await end(name);
  await Promise.all(all);
});

test('the queue of one account is full before that of all is', async () => {
  const { ask, end, begun } = queries(new QueryPlaces([0], 8));
  const all = [0, 1, 2].map((nth) => ask(`loud ${nth}`, owner('loud')));
  await expect(ask('one too many', owner('loud'))).rejects.toBeInstanceOf(BusyError);
  all.push(ask('quiet', owner('quiet')));
  await turn();
  for (const name of ['loud 0', 'quiet', 'loud 1', 'loud 2']) await end(name);
  await Promise.all(all);
  expect(begun).toHaveLength(4);
});

test('who leaves the queue is not served, and leaves no gap', async () => {
  const { ask, end, begun } = queries(new QueryPlaces([0], 8));
  const leaving = new AbortController();
  const first = ask('first', owner('a'));
  const second = ask('second', owner('b'), leaving.signal);
  const third = ask('third', owner('c'));
  leaving.abort(new Error('left'));
  await expect(second).rejects.toThrow('left');
  await end('first');
  await end('third');
  await Promise.all([first, third]);
  expect(begun).toEqual(['first', 'third']);
});
