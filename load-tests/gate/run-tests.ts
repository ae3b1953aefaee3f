import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { runCommand } from './command.ts';
import { type FileResult, failuresOf, hasFailed, readResults } from './results.ts';

export type Run = typeof runCommand;

export interface TestCommand {
  /** A script of npm that runs vitest, without its arguments. */
  script: readonly string[];
  /** Files or folders; none: all that the script runs. */
  filters?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  limitMs: number;
}

export interface Flaky {
  file: string;
  test: string;
  error: string;
}

export interface TestOutcome {
  files: readonly FileResult[];
  /** Failures of files that passed when they were run again. */
  flaky: readonly Flaky[];
  /** What went wrong outside of all files. */
  errors: readonly string[];
}

/** How often a file that failed is run again, alone. */
const MOST_RERUNS = 2;
/** More failed files than this are no accident, and are not run again. */
const MOST_SUSPECTS = 10;

const REPORTER = join(import.meta.dirname, 'reporter.ts');

/** Runs tests, and each file that failed again, alone. */
export async function runTests({ script, filters = [], environment, limitMs }: TestCommand, run: Run) {
  const folder = mkdtempSync(join(tmpdir(), 'gate-results-'));
  let runs = 0;
  const attempt = async (files: readonly string[]) => {
    const path = join(folder, `${runs++}.jsonl`);
    const options = ['--reporter=default', `--reporter=${REPORTER}`];
    const code = await run([...script, '--', ...files, ...options], {
      environment: { ...environment, GATE_RESULTS: path },
      limitMs,
    });
    return { code, ...readResults(path) };
  };

  const first = await attempt(filters);
  const files = new Map(first.files.map((file) => [`${file.project} ${file.file}`, file]));
  const errors = [...first.uncaught];
  const suspects = [...new Set(first.files.filter(hasFailed).map(({ file }) => file))];
  if (first.code !== 0 && suspects.length === 0 && errors.length === 0)
    errors.push(`${script.join(' ')} exited with ${first.code} and no failed test; see its output`);
  if (first.files.length === 0) errors.push(`${script.join(' ')} ran no test`);

  const flaky: Flaky[] = [];
  for (const suspect of suspects.length <= MOST_SUSPECTS ? suspects : []) {
    const failures = first.files.filter(({ file }) => file === suspect).flatMap(failuresOf);
    for (let nth = 0; nth < MOST_RERUNS; nth++) {
      const again = await attempt([suspect]);
      const found = again.files.filter(({ file }) => file === suspect);
      for (const file of found) files.set(`${file.project} ${file.file}`, file);
      if (again.code !== 0 || found.length === 0 || found.some(hasFailed)) continue;
      for (const { test, error } of failures) flaky.push({ file: suspect, test, error });
      break;
    }
  }
  rmSync(folder, { recursive: true });
  return { files: [...files.values()], flaky, errors } satisfies TestOutcome;
}
