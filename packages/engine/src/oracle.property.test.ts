import { test } from 'vitest';
import { compareWithOracle } from './oracle-runs.fixture.ts';

// Half of the runs; the other half is in a file of its own, so that two cores can go through them.
test('the engine says what the slow and plain oracle says: the first half of the scenarios', {
  timeout: 600_000,
}, () => {
  compareWithOracle(0);
});
