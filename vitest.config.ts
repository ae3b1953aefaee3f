import { configDefaults, defineConfig } from 'vitest/config';

/**
 * The rings, by the names of files. Each has what it needs, and takes as long as it takes:
 *
 * - `*.test.ts`: unit; pure code, and adapters in memory and on SQLite, in the process of the test
 * - `*.smoke.test.ts`: the service as its user runs it, in short; together with unit, this is `npm test`
 * - `*.service.test.ts`: processes, chDB and programs such as ffmpeg; with the above, this is `npm run test:all`
 * - `*.servers.test.ts`: real servers, which `npm run test:servers` starts
 * - `*.faults.test.ts`: minutes of faults, which `npm run test:faults` prepares
 * - `*.browser.test.ts`: pages in a browser
 */
const RINGS = ['smoke', 'service', 'servers', 'faults', 'browser'];

const FILES = '{packages,services,load-tests}/**/*';

export default defineConfig({
  test: {
    globalSetup: ['./vitest.folder.ts'],
    // Vitest leaves one processor unused otherwise, which is half of a small machine.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${FILES}.test.ts`],
          exclude: [...configDefaults.exclude, ...RINGS.map((ring) => `**/*.${ring}.test.ts`)],
          setupFiles: ['./vitest.setup.ts', './vitest.passwords.ts'],
        },
      },
      ...RINGS.map((ring) => ({
        extends: true as const,
        test: { name: ring, include: [`${FILES}.${ring}.test.ts`], setupFiles: ['./vitest.setup.ts'] },
      })),
    ],
  },
});
