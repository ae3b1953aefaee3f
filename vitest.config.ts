import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{packages,services,load-tests}/**/*.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    // Minutes of stopped servers: `npm run test:faults`.
    exclude: [...configDefaults.exclude, ...(process.env.FAULTS ? [] : ['load-tests/faults/rounds.test.ts'])],
    // Two cores carry the whole suite: more workers only wait for each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
