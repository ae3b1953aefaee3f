import { expect, test } from 'vitest';
import { removeStrays } from './strays.ts';

test('of many files only those go that are of this make, old enough, and of nobody', async () => {
  const stored = Array.from({ length: 250 }, (_, n) => ({ id: `mine-${n}`, bytes: 1, storedAtMs: n }));
  stored.push({ id: 'another', bytes: 1, storedAtMs: 0 });
  const gone: string[] = [];
  const reported: string[] = [];
  const asked: number[] = [];
  await removeStrays(
    {
      list: async function* () {
        yield* stored;
      },
      delete: async (id) => {
        expect(reported).toContain(id);
        gone.push(id);
      },
    },
    {
      storedBeforeMs: 239,
      ownerOf: (id) => /^mine-(\d+)$/.exec(id)?.[1] ?? null,
      known: async (owners) => {
        asked.push(owners.length);
        return new Set(owners.filter((owner) => Number(owner) % 2 === 0));
      },
      onStray: (id) => reported.push(id),
    },
  );
  expect(gone).toEqual(Array.from({ length: 120 }, (_, n) => `mine-${2 * n + 1}`));
  expect(asked).toEqual([100, 100, 40]);
});
