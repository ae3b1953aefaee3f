import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS, type Image, kindsOf, makeImage, type Outcome, play, sentenceOf } from './damage.ts';

/** Services that run side by side. */
const AT_ONCE = 2;

let image: Image;
const outcomes: Outcome[] = [];
beforeAll(async () => {
  image = await makeImage();
}, 300_000);
afterAll(() => {
  for (const outcome of outcomes) console.info(sentenceOf(outcome));
  image.close();
});

/** Of a service that was stopped, and of one that was killed: then the newest changes are in write-ahead logs alone. */
test.each(['stopped', 'killed'] as const)(
  'no damage to a file of a service that was %s goes without a word',
  {
    timeout: 1_800_000,
  },
  async (moment) => {
    const files = kindsOf(image[moment]);
    expect(files.length).toBeGreaterThan(10);
    const cases = files
      .filter((file) => moment === 'stopped' || /sqlite/.test(file))
      .flatMap((file) => FAULTS.map((fault) => ({ file, fault })));
    const before = outcomes.length;
    const playAll = async () => {
      for (let next = cases.shift(); next !== undefined; next = cases.shift())
        outcomes.push(await play(image, moment, next.file, next.fault));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, playAll));
    expect(
      outcomes
        .slice(before)
        .filter(({ isSilent }) => isSilent)
        .map(sentenceOf),
    ).toEqual([]);
  },
);
