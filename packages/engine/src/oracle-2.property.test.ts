import { test } from 'vitest';
import { compareWithOracle } from './oracle-runs.fixture.ts';

test('the engine says what the slow and plain oracle says: the second half of the scenarios', {
  timeout: 600_000,
}, () => {
  compareWithOracle(1);
});
