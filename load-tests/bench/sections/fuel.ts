import { accuracyOf, type Comparison, compareMany } from '../../../packages/engine/src/fuel/accuracy.fixture.ts';
import { defineSection, figure } from '../section.ts';

const DAYS = 14;
/** Far from those of the tests: the detector has not seen these trucks. */
const FIRST_SEED = 5_000_000;
const BATCH = 10;
const FIGURES = 4;

const ways = ['refuelling', 'refuelling unseen', 'theft parked', 'theft unseen', 'theft driving', 'leak'] as const;

const round = (value: number) => Number(value.toFixed(FIGURES));

/** How well refuellings and drains are found, by the truth of the generator that made the tank data. */
export const section = defineSection({
  about: 'refuellings and drains found in tank data of 400 l trucks, thresholds of 10 l, beside the truth',
  bare: null,
  async run(say, quick) {
    const stories = quick ? 20 : 200;
    const compared: Comparison[] = [];
    const began = performance.now();
    for (let from = 0; from < stories; from += BATCH) {
      const seeds = Array.from({ length: BATCH }, (_, nth) => FIRST_SEED + from + nth);
      compared.push(...compareMany(seeds, DAYS));
      say(`${from + BATCH} of ${stories} trucks, ${DAYS} days each`);
    }
    const seconds = (performance.now() - began) / 1000;
    const kinds = (['refuelling', 'fuel-drain'] as const).map((kind) => ({
      kind: kind as string,
      ...accuracyOf(compared.filter(({ truth, found }) => (truth ?? found)?.kind === kind)),
    }));
    const all = [...kinds, { kind: 'all', ...accuracyOf(compared) }];
    const byWay = ways.map((how) => ({ how, ...accuracyOf(compared.filter(({ truth }) => truth?.how === how)) }));
    return {
      result: { stories, days: DAYS, seconds: round(seconds), all, byWay },
      tables: [
        {
          title: `Refuellings and drains of ${stories} trucks in ${DAYS} days`,
          columns: ['kind', 'happened', 'found', 'precision', 'recall', 'volume found / true', 'median volume error'],
          rows: all.map((row) => [
            row.kind,
            row.truths,
            row.found,
            round(row.precision),
            round(row.recall),
            round(row.volumeRatio),
            round(row.medianVolumeError),
          ]),
        },
        {
          title: 'By what really happened',
          columns: ['what', 'happened', 'recall', 'volume found / true', 'median volume error'],
          rows: byWay.map((row) => [
            row.how,
            row.truths,
            round(row.recall),
            round(row.volumeRatio),
            round(row.medianVolumeError),
          ]),
        },
      ],
    };
  },
  figures: ({ all }) =>
    all.flatMap(({ kind, precision, recall }) => [
      figure(`${kind}: precision`, 'share', precision, { goal: { atLeast: 0.95 } }),
      figure(`${kind}: recall`, 'share', recall, { goal: { atLeast: 0.95 } }),
    ]),
});
