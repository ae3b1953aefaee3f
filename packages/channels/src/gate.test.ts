import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGate } from './gate.ts';

test('never lets in more than it may, turns away who finds too many waiting, and serves the rest in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.nat(4),
      fc.nat(12),
      fc.scheduler(),
      async (atOnce, maxWaiting, comers, scheduler) => {
        const gate = createGate(atOnce, maxWaiting);
        const served: number[] = [];
        let inside = 0;
        const visits = Array.from({ length: comers }, async (_, number) => {
          if (!(await gate.enter())) return false;
          served.push(number);
          expect(++inside).toBeLessThanOrEqual(atOnce);
          await scheduler.schedule(Promise.resolve());
          inside--;
          gate.leave();
          return true;
        });
        const empty = gate.empty();
        await scheduler.waitFor(Promise.all(visits));
        await empty;
        const taken = Math.min(comers, atOnce + maxWaiting);
        expect((await Promise.all(visits)).filter(Boolean)).toHaveLength(taken);
        expect(served).toEqual(Array.from({ length: taken }, (_, number) => number));
      },
    ),
  );
});
