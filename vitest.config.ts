import { configDefaults, defineConfig } from 'vitest/config';

const FAULTS = ['load-tests/faults/{rounds,replaced-log,bounded-log,slow-clock}.test.ts'];

export default defineConfig({
  test: {
    include: ['{packages,services,load-tests}/**/*.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    // Minutes of faults, of servers and of one process: `npm run test:faults`.
    exclude: [...configDefaults.exclude, ...(process.env.FAULTS ? [] : FAULTS)],
    // Two cores carry the whole suite: more workers only wait for each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
