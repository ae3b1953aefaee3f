import { runs } from '@outrider/testing';
import fc from 'fast-check';

/**
 * With `PROPERTY_SEED` each run has the same inputs; without, each run has its own, and prints the seed of a failure.
 */
const { PROPERTY_SEED } = process.env;
fc.configureGlobal({ numRuns: runs(100), ...(PROPERTY_SEED !== undefined && { seed: Number(PROPERTY_SEED) }) });
