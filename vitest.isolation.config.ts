import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Pairs of a caller and what it asks for: of REST, and of the live API. */
const PAIRS = Number(process.env.RIGHTS_PAIRS ?? 1_000_000);
const LIVE_PAIRS = Number(process.env.LIVE_PAIRS ?? 50_000);
const SEED = Number(process.env.RIGHTS_SEED ?? Date.now() % 1_000_000_000);
/** Each has random organisations of its own, on a processor of its own. */
const SHARDS = availableParallelism();

/** `npm run test:isolation`: tests of rights, with too many pairs to run for each change. */
export default defineConfig({
  test: {
    maxWorkers: SHARDS,
    projects: Array.from({ length: SHARDS }, (_, shard) => ({
      test: {
        name: `isolation ${shard + 1}`,
        include: ['{packages,services}/**/{rights,isolation}.property.test.ts'],
        globalSetup: ['./vitest.folder.ts'],
        setupFiles: ['./vitest.setup.ts', './vitest.passwords.ts'],
        hookTimeout: 120_000,
        env: {
          RIGHTS_PAIRS: String(Math.ceil(PAIRS / SHARDS)),
          LIVE_PAIRS: String(Math.ceil(LIVE_PAIRS / SHARDS)),
          RIGHTS_SEED: String(SEED + shard),
        },
      },
    })),
  },
});
