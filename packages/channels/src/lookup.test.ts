import { expect, test } from 'vitest';
import { boundLookup, lookupBySystem, type ResolvedAddress } from './lookup.ts';

const answer: readonly ResolvedAddress[] = [{ address: '127.0.0.1', family: 4 }];

/** A lookup whose answers are given by hand. */
function byHand() {
  const asked: string[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const lookup = boundLookup((hostname) => {
    asked.push(hostname);
    return new Promise((resolve, reject) => answers.push((error) => (error ? reject(error) : resolve(answer))));
  });
  return { asked, answers, lookup };
}

test('one name is asked for at a time, others wait', async () => {
  const { asked, answers, lookup } = byHand();
  const all = Promise.all(['a', 'b', 'c'].map(lookup));
  await new Promise(setImmediate);
  expect(asked).toEqual(['a']);
  answers[0]?.();
  await new Promise(setImmediate);
  expect(asked).toEqual(['a', 'b']);
  answers[1]?.();
  await new Promise(setImmediate);
  expect(asked).toEqual(['a', 'b', 'c']);
  answers[2]?.();
  expect(await all).toEqual([answer, answer, answer]);
});

test('who asks for the same name meanwhile gets the same answer; later it is asked for again', async () => {
  const { asked, answers, lookup } = byHand();
  const both = Promise.all([lookup('a'), lookup('a')]);
  await new Promise(setImmediate);
  answers[0]?.();
  expect(await both).toEqual([answer, answer]);
  expect(asked).toEqual(['a']);

  const failed = lookup('a');
  await new Promise(setImmediate);
  answers[1]?.(new Error('no such name'));
  await expect(failed).rejects.toThrow('no such name');
  expect(asked).toEqual(['a', 'a']);
});

test('the system knows this machine', async () => {
  const addresses = await lookupBySystem('localhost');
  expect(addresses.map(({ address }) => address)).toContainEqual(expect.stringMatching(/^(127\.0\.0\.1|::1)$/));
});
