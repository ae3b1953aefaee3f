import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The rings, by the names of files. Each has what it needs, and takes as long as it takes:
 *
 * - `*.test.ts`: unit; pure code, and adapters in memory and on SQLite, in the process of the test; this is `npm test`
 * - `*.property.test.ts`: many inputs: random ones against slow, plain oracles, recorded drives, all that is bad input
 * - `*.smoke.test.ts`: the service as its user runs it, in short
 * - `*.service.test.ts`: processes, chDB and programs such as ffmpeg; with the above, this is `npm run test:all`
 * - `*.servers.test.ts`: real servers, which `npm run test:servers` starts
 * - `*.faults.test.ts`: minutes of faults, which `npm run test:faults` prepares
 * - `*.browser.test.ts`: pages in a browser
 */
const RINGS = ['smoke', 'service', 'servers', 'faults', 'browser'];
const PROPERTY = '**/*.property.test.ts';

const FILES = '{packages,services,load-tests}/**/*';
const FOREIGN = [...configDefaults.exclude, PROPERTY, ...RINGS.map((ring) => `**/*.${ring}.test.ts`)];

/** Unit tests that replace modules. Each file runs with modules of its own; the others share them, which saves time. */
const MOCKING = globSync(`${FILES}.test.ts`, { exclude: FOREIGN }).filter((file) =>
  /^vi\.(un)?mock\(/m.test(readFileSync(file, 'utf8')),
);
const UNIT = [
  { name: 'unit', isolate: false, include: [`${FILES}.test.ts`], exclude: [...FOREIGN, ...MOCKING] },
  { name: 'unit-mocking', include: MOCKING },
  { name: 'property', isolate: false, include: [`${FILES}.property.test.ts`] },
];

/** Each file has a service and a browser of its own, which are busy all the time. */
const BROWSER = { globalSetup: ['./services/console/test/build.setup.ts'], maxWorkers: availableParallelism() };

/** Minutes long: where one of these begins last, all processors but one wait for its end. */
const LONGEST = [
  'promises.service.test.ts',
  'end-to-end.service.test.ts',
  'crash.smoke.test.ts',
  'rights.property.test.ts',
];

/** Without times of an earlier run, larger files begin first; the longest need not be large. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.endsWith(`/${name}`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: ['./vitest.folder.ts'],
    // Tests wait more than they work: two processors are busy with four files at a time.
    maxWorkers: Math.max(4, availableParallelism()),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A second, the default, may pass on a machine that does something else.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      ...UNIT.map((test) => ({
        extends: true as const,
        test: { ...test, setupFiles: ['./vitest.setup.ts', './vitest.passwords.ts'] },
      })),
      ...RINGS.map((ring) => ({
        extends: true as const,
        test: {
          name: ring,
          include: [`${FILES}.${ring}.test.ts`],
          setupFiles: ['./vitest.setup.ts'],
          ...(ring === 'browser' ? BROWSER : {}),
        },
      })),
    ],
  },
});
