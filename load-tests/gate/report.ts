import { countTests, failuresOf, hasFailed } from './results.ts';
import type { TestOutcome } from './run-tests.ts';

export interface StepOutcome extends TestOutcome {
  name: string;
  /** Exit code of a command without tests, which passes or fails as a whole; null for tests. */
  code: number | null;
  ms: number;
}

const MOST_LINES = 30;
const indented = (text: string) =>
  text
    .split('\n')
    .slice(0, MOST_LINES)
    .map((line) => `  ${line}`)
    .join('\n');

/** The end of a ring's output: times, what failed and why, what was flaky, and how many tests passed. */
export function renderSummary(outcomes: readonly StepOutcome[]): { text: string; failed: number } {
  const all = { passed: 0, failed: 0, skipped: 0 };
  const lines: string[] = ['', '== done'];
  for (const { name, ms, files, errors, code } of outcomes) {
    const counts = countTests(files);
    counts.failed += errors.length;
    if (code !== null) counts[code === 0 ? 'passed' : 'failed'] += 1;
    all.passed += counts.passed;
    all.failed += counts.failed;
    all.skipped += counts.skipped;
    const state = counts.failed > 0 ? `${counts.failed} failed` : 'passed';
    lines.push(`${name.padEnd(12)} ${String(Math.round(ms / 1000)).padStart(5)} s  ${state}`);
  }
  lines.push('');
  for (const { name, files, errors, code } of outcomes) {
    if (code) lines.push(`failed: ${name} (exit ${code}); see its output`, '');
    for (const error of errors) lines.push(`failed: ${name}`, indented(error), '');
    for (const file of files.filter(hasFailed))
      for (const { test, error } of failuresOf(file)) lines.push(`failed: ${file.file}: ${test}`, indented(error), '');
  }
  const flaky = outcomes.flatMap((outcome) => outcome.flaky);
  for (const { file, test, error } of flaky) lines.push(`failed at first: ${file}: ${test}`, indented(error), '');
  for (const { file, test } of flaky) lines.push(`flaky: ${file}: ${test}`);
  const skipped = all.skipped > 0 ? `, ${all.skipped} skipped` : '';
  lines.push(`${all.passed} passed, ${all.failed} failed${skipped}`);
  return { text: lines.join('\n'), failed: all.failed };
}
