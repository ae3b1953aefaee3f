import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeFault, KINDS, type Kind, type Places, planRounds } from './plan.ts';

const named = (what: string, count: number) => Array.from({ length: count }, (_, nth) => `${what} ${nth}`);
const links = named('link', 16);
const PLACES: Places = {
  kill: named('service', 7),
  stop: named('server', 4),
  cut: links,
  delay: links,
  halve: links,
  disk: ['disk'],
  clock: named('service', 5),
};

test('in twenty rounds every fault is at every one of its places, one of each kind a round', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const rounds = planRounds(seed, 20, KINDS, PLACES);
      expect(rounds.map((faults) => faults.map(({ kind }) => kind))).toEqual(rounds.map(() => [...KINDS]));
      for (const kind of KINDS) {
        const met = new Set(rounds.flat().flatMap((fault) => (fault.kind === kind ? [fault.place] : [])));
        expect([...met].toSorted()).toEqual(PLACES[kind].toSorted());
      }
    }),
  );
});

test('no link has two faults in a round', () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 60 }), (seed, count) => {
      for (const faults of planRounds(seed, count, KINDS, PLACES)) {
        const here = faults.filter(({ kind }) => kind === 'cut' || kind === 'delay' || kind === 'halve');
        expect(new Set(here.map(({ place }) => place)).size).toBe(3);
      }
    }),
  );
});

test('the same seed plans the same, and each fault says what it is', () => {
  const kinds: Kind[] = ['kill', 'clock'];
  expect(planRounds(7, 5, kinds, PLACES)).toEqual(planRounds(7, 5, kinds, PLACES));
  const [round] = planRounds(7, 1, KINDS, PLACES);
  expect(round?.map(describeFault)).toEqual([
    expect.stringMatching(/^kill service \d$/),
    expect.stringMatching(/^stop server \d$/),
    expect.stringMatching(/^cut link \d+ ×[1-4]$/),
    expect.stringMatching(/^delay link \d+ \d+ ms$/),
    expect.stringMatching(/^halve link \d+ to-(server|client) (late|never)$/),
    'disk disk',
    expect.stringMatching(/^clock service \d [+-]\d+ s$/),
  ]);
});
