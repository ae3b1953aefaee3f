import { existsSync, readFileSync } from 'node:fs';

export interface TestResult {
  name: string;
  state: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  /** Message and stack; of failed tests alone. */
  error?: string;
}

/** What became of a file of tests in one project of vitest. */
export interface FileResult {
  project: string;
  /** Relative to the project's root. */
  file: string;
  durationMs: number;
  tests: readonly TestResult[];
  /** What failed outside of its tests: loading it, or a hook. */
  errors: readonly string[];
}

/**
 * What the reporter writes while tests run, one line of JSON each. Lines stay when the run dies: a file that was queued
 * and never finished was lost with it.
 */
export type ResultLine =
  | { kind: 'queued'; project: string; file: string }
  | ({ kind: 'finished' } & FileResult)
  /** An error that no test caught. `file` is null where vitest does not know in which file it was thrown. */
  | { kind: 'uncaught'; file: string | null; error: string };

export interface RunResults {
  files: readonly FileResult[];
  /** Uncaught errors of no known file. */
  uncaught: readonly string[];
}

/** Reads what a run wrote. A file that did not finish is one with an error. */
export function readResults(path: string): RunResults {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const files = new Map<string, FileResult>();
  const uncaught: string[] = [];
  const keyOf = ({ project, file }: { project: string; file: string }) => `${project} ${file}`;
  for (const text of lines) {
    const { kind, ...line } = JSON.parse(text) as ResultLine;
    if (kind === 'uncaught') {
      const { file, error } = line as { file: string | null; error: string };
      const found = [...files.values()].filter((each) => each.file === file);
      for (const each of found) files.set(keyOf(each), { ...each, errors: [...each.errors, error] });
      if (found.length === 0) uncaught.push(error);
    } else {
      const finished = kind === 'finished' ? (line as FileResult) : null;
      const { project, file } = line as { project: string; file: string };
      const lost = { project, file, durationMs: 0, tests: [], errors: ['the run ended before this file did'] };
      files.set(keyOf({ project, file }), finished ?? lost);
    }
  }
  return { files: [...files.values()], uncaught };
}

export function hasFailed({ tests, errors }: FileResult): boolean {
  return errors.length > 0 || tests.some(({ state }) => state === 'failed');
}

/** Each failure of a file: the test's name, and what was wrong. */
export function failuresOf({ tests, errors }: FileResult): { test: string; error: string }[] {
  return [
    ...tests.filter(({ state }) => state === 'failed').map(({ name, error }) => ({ test: name, error: error ?? '' })),
    ...errors.map((error) => ({ test: '(outside of its tests)', error })),
  ];
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Errors outside of tests count as one failure each. */
export function countTests(files: readonly FileResult[]): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { tests, errors } of files) {
    for (const { state } of tests) counts[state] += 1;
    counts.failed += errors.length;
  }
  return counts;
}
