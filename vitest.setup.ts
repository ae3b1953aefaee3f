import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { vi } from 'vitest';

/**
 * With `PROPERTY_SEED` each run has the same inputs; without, each run has its own, and prints the seed of a failure.
 */
const { PROPERTY_SEED } = process.env;
fc.configureGlobal({ numRuns: runs(100), ...(PROPERTY_SEED !== undefined && { seed: Number(PROPERTY_SEED) }) });

/** Waits for as long as a busy machine may take; the default of vitest is a second. */
const { waitFor } = vi;
const waitForLong: typeof vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: 60_000, interval: 10, ...options });
// Files that share their modules share `vi` as well.
if (waitFor.name !== waitForLong.name) vi.waitFor = waitForLong;
