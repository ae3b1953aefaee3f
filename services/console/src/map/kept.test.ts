import { afterEach, expect, test } from 'vitest';
import { keep, keepThings, takeKept } from './kept.ts';

/** A thing that says in a list when it is removed. */
const removed: string[] = [];
const thing = (name: string) => ({ name, remove: () => void removed.push(name) });

afterEach(() => {
  keepThings()();
  removed.length = 0;
});

test('one thing is handed on, once; a second one is removed', () => {
  const end = keepThings();
  keep(thing('first'));
  keep(thing('second'));
  expect(removed).toEqual(['second']);
  expect(takeKept()).toMatchObject({ name: 'first' });
  expect(takeKept()).toBeNull();
  end();
  expect(removed).toEqual(['second']);
});

test('nothing outlives who has logged out, whether it was handed on before or is afterwards', () => {
  const end = keepThings();
  keep(thing('before'));
  end();
  keep(thing('afterwards'));
  expect(removed).toEqual(['before', 'afterwards']);
  expect(takeKept()).toBeNull();
});
