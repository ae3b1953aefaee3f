import { createRandom } from '@outrider/simulator';
import { expect, test } from 'vitest';
import { mutate } from './mutate.ts';
import { sessionTargets } from './targets/sessions.ts';

test.each(sessionTargets)('frames of $name that are taken apart and sealed again are what they were', (target) => {
  const { framing } = target;
  if (!framing) throw new Error('it has frames');
  // The first of them: of lines without a checksum, the end of some looks like one.
  for (const seed of target.seeds(createRandom(3)).slice(0, 1)) {
    const plain = framing.split(seed);
    expect(plain.length).toBeGreaterThan(1);
    expect(Buffer.concat(plain.map(framing.seal))).toEqual(seed);
  }
});

test.each(sessionTargets)('most sealed mutations of $name get past the checksum', async (target) => {
  const random = createRandom(5);
  let accepted = 0;
  for (let i = 0; i < 300; i++) {
    const seeds = target.seeds(random);
    const input = mutate(random.pick(seeds), random.pick(seeds), target, random);
    if ((await target.run(input)) === 'accepted') accepted++;
  }
  expect(accepted).toBeGreaterThan(40);
});

test('the same seed makes the same inputs', () => {
  const [target] = sessionTargets;
  if (!target) throw new Error('there are targets');
  const inputs = (seed: number) => {
    const random = createRandom(seed);
    const [first = Buffer.alloc(0)] = target.seeds(random);
    return Array.from({ length: 20 }, () => mutate(first, first, target, random).toString('hex'));
  };
  expect(inputs(9)).toEqual(inputs(9));
  expect(inputs(9)).not.toEqual(inputs(10));
});
