import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fault, type Image, kindsOf, makeImage, play, sentenceOf } from './damage.ts';

let image: Image;
beforeAll(async () => {
  image = await makeImage();
}, 300_000);
afterAll(() => image.close());

// `damage.faults.test.ts` has all kinds of file.
test.each<[file: RegExp, fault: Fault]>([
  [/^registry\.sqlite$/, 'bit'],
  [/^reports\/[^.]/, 'bit'],
  [/^signing-keys\.json$/, 'gone'],
  [/data\.bin$/, 'zeros'],
])('of %s, the fault %s does not go without a word', async (kind, fault) => {
  const file = kindsOf(image.stopped).find((name) => kind.test(name));
  if (file === undefined) throw new Error(`no file is called ${kind}`);
  const outcome = await play(image, 'stopped', file, fault);
  expect(outcome.isSilent ? sentenceOf(outcome) : null).toBeNull();
});
