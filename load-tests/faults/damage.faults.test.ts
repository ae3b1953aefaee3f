import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS, type Image, kindsOf, makeImage, type Outcome, play, sentenceOf } from './damage.ts';

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
    for (const { file, fault } of cases) outcomes.push(await play(image, moment, file, fault));
    expect(
      outcomes
        .slice(before)
        .filter(({ isSilent }) => isSilent)
        .map(sentenceOf),
    ).toEqual([]);
  },
);
