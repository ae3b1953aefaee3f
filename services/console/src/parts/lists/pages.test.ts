import { expect, test } from 'vitest';
import { PagedList } from './pages.ts';

const pages = [
  { items: [1, 2], nextCursor: 'a' },
  { items: [3], nextCursor: null },
];

test('pages come one after another, and begin anew on reload', async () => {
  const asked: (string | undefined)[] = [];
  const list = new PagedList<number>(async (cursor) => {
    asked.push(cursor);
    return pages[cursor === 'a' ? 1 : 0] as (typeof pages)[number];
  });
  await list.reload();
  expect([list.items.value, list.hasMore.value]).toEqual([[1, 2], true]);
  await list.more();
  expect([list.items.value, list.hasMore.value, list.isLoading.value]).toEqual([[1, 2, 3], false, false]);
  await list.more();
  await list.reload();
  expect(list.items.value).toEqual([1, 2]);
  expect(asked).toEqual([undefined, 'a', undefined]);
});

test('an answer that was overtaken is not shown; a failed one keeps what is there', async () => {
  const answers: ((page: (typeof pages)[number] | Error) => void)[] = [];
  const list = new PagedList<number>(
    () =>
      new Promise((resolve, reject) => {
        answers.push((page) => (page instanceof Error ? reject(page) : resolve(page)));
      }),
  );
  const first = list.reload();
  const second = list.reload();
  answers[1]?.(pages[1] as never);
  answers[0]?.(pages[0] as never);
  await Promise.all([first, second]);
  expect(list.items.value).toEqual([3]);
  const third = list.reload();
  answers[2]?.(new Error('no'));
  await third;
  expect([list.items.value, (list.error.value as Error).message]).toEqual([[3], 'no']);
});
