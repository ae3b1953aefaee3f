import { expect, test } from 'vitest';
import { SUITES } from '../conformance.fixture.ts';
import { IDLE_IN_TRANSACTION_MS } from '../store/idle-in-transaction.ts';
import { onPostgres } from '../store/postgres.fixture.ts';

onPostgres(({ newPlace }) => {
  test('a turn lasts as long as its work, however long nothing is asked in it', async () => {
    const place = await newPlace();
    const [one, two] = [await place.open(Date.now), await place.open(Date.now)];
    try {
      let wasOthers = false;
      const took = await one.outbox.inTurn(async () => {
        await new Promise((resolve) => setTimeout(resolve, IDLE_IN_TRANSACTION_MS + 1500));
        wasOthers = (await two.outbox.inTurn(async () => true)) === true;
        return 'done';
      });
      expect({ took, wasOthers }).toEqual({ took: 'done', wasOthers: false });
      expect(await two.outbox.inTurn(async () => 'its turn')).toBe('its turn');
    } finally {
      await Promise.all([one.close(), two.close()]);
      await place.remove();
    }
  });

  test('instances that look for a job at the same time take it once, and none fails', {
    timeout: 60_000,
  }, async () => {
    const place = await newPlace();
    const registries = await Promise.all(Array.from({ length: 4 }, () => place.open(Date.now)));
    try {
      for (let round = 0; round < 100; round++) {
        await registries[0]?.jobs.add({ kind: 'dig', subjectId: 'van', parameters: { round }, dueAtMs: 0 }, () => ({}));
        const leased = await Promise.all(
          registries.map(({ jobs }) => jobs.lease({ kinds: ['dig'], leaseMs: 60_000, atOnce: 1000 })),
        );
        expect(leased.flatMap((each) => each?.job.parameters ?? [])).toEqual([{ round }]);
      }
    } finally {
      await Promise.all(registries.map((registry) => registry.close()));
      await place.remove();
    }
  });

  for (const suite of SUITES.work) suite('PostgreSQL', newPlace);
});
