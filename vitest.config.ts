import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{packages,services,load-tests}/**/*.test.ts'],
    // Two cores carry the whole suite: more workers only wait for each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
