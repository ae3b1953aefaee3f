import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { renderSummary } from './report.ts';
import type { ResultLine } from './results.ts';
import { type Run, runTests } from './run-tests.ts';

const ofFile = (file: string) => ({ project: 'unit', file });
const finished = (file: string, ...states: ('passed' | 'failed')[]): ResultLine => ({
  kind: 'finished',
  ...ofFile(file),
  durationMs: 1,
  tests: states.map((state, nth) => ({
    name: `test ${nth + 1}`,
    state,
    durationMs: 1,
    ...(state === 'failed' && { error: 'expected 1 to be 2' }),
  })),
  errors: [],
});

interface Attempt {
  lines: readonly ResultLine[];
  code: number;
}

/** One run after the other, each with its lines and exit code. */
function scripted(...attempts: readonly Attempt[]): { run: Run; commands: string[] } {
  const commands: string[] = [];
  const run: Run = async (command, { environment }) => {
    const attempt = attempts[commands.length];
    if (attempt === undefined) throw new Error(`unexpected: ${command.join(' ')}`);
    commands.push(command.filter((word) => !word.startsWith('--')).join(' '));
    writeFileSync(environment?.GATE_RESULTS ?? '', attempt.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return attempt.code;
  };
  return { run, commands };
}

async function outcomeOf(...attempts: readonly Attempt[]) {
  const { run, commands } = scripted(...attempts);
  const outcome = await runTests({ script: ['npm', 'test'], limitMs: 1000 }, run);
  const { text, failed } = renderSummary([{ name: 'quick', code: null, ms: 1000, ...outcome }]);
  return { commands, failed, text, lines: text.split('\n') };
}

describe('a run of tests', () => {
  test('passes when all files pass', async () => {
    const { commands, failed, lines } = await outcomeOf({ lines: [finished('a', 'passed', 'passed')], code: 0 });
    expect(commands).toEqual(['npm test']);
    expect(failed).toBe(0);
    expect(lines.at(-1)).toBe('2 passed, 0 failed');
  });

  test('with a file that passes alone passes, and names the test as flaky', async () => {
    const { commands, failed, lines } = await outcomeOf(
      { lines: [finished('a', 'passed', 'failed'), finished('b', 'passed')], code: 1 },
      { lines: [finished('a', 'passed', 'failed')], code: 1 },
      { lines: [finished('a', 'passed', 'passed')], code: 0 },
    );
    expect(commands).toEqual(['npm test', 'npm test a', 'npm test a']);
    expect(failed).toBe(0);
    expect(lines.slice(-2)).toEqual(['flaky: a: test 2', '3 passed, 0 failed']);
  });

  test('with a file that fails three times fails, and says why', async () => {
    const failing = { lines: [finished('a', 'passed', 'failed')], code: 1 };
    const { failed, text, lines } = await outcomeOf(failing, failing, failing);
    expect(failed).toBe(1);
    expect(text).toContain('failed: a: test 2\n  expected 1 to be 2');
    expect(lines.at(-1)).toBe('1 passed, 1 failed');
  });

  test('that dies keeps its results, and runs again what it lost', async () => {
    const { commands, failed, lines } = await outcomeOf(
      {
        lines: [{ kind: 'queued', ...ofFile('a') }, { kind: 'queued', ...ofFile('b') }, finished('a', 'passed')],
        code: 139,
      },
      { lines: [finished('b', 'passed')], code: 0 },
    );
    expect(commands).toEqual(['npm test', 'npm test b']);
    expect(failed).toBe(0);
    expect(lines.slice(-2)).toEqual(['flaky: b: (outside of its tests)', '2 passed, 0 failed']);
  });

  test('with an error that belongs to no file fails', async () => {
    const { failed, text } = await outcomeOf({
      lines: [finished('a', 'passed'), { kind: 'uncaught', file: null, error: 'Error: nobody waits for it' }],
      code: 1,
    });
    expect(failed).toBe(1);
    expect(text).toContain('nobody waits for it');
  });

  test('with an uncaught error of a file runs that file again', async () => {
    const { commands, failed } = await outcomeOf(
      {
        lines: [finished('a', 'passed'), { kind: 'uncaught', file: 'a', error: 'Error: nobody waits for it' }],
        code: 1,
      },
      { lines: [finished('a', 'passed')], code: 0 },
    );
    expect(commands).toEqual(['npm test', 'npm test a']);
    expect(failed).toBe(0);
  });

  test('that ends with an error and no results fails', async () => {
    const { failed, text } = await outcomeOf({ lines: [], code: 1 });
    expect(failed).toBe(2);
    expect(text).toContain('ran no test');
  });

  test('with many failed files is not repeated', async () => {
    const many = Array.from({ length: 11 }, (_, nth) => finished(`file-${nth}`, 'failed'));
    const { commands, failed } = await outcomeOf({ lines: many, code: 1 });
    expect(commands).toEqual(['npm test']);
    expect(failed).toBe(11);
  });
});
