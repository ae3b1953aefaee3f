import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, TestSpecification } from 'vitest/node';
import type { ResultLine, TestResult } from './results.ts';

/** A reporter of vitest that appends what happens to the file that `GATE_RESULTS` names; see {@link ResultLine}. */
export default class ResultsReporter implements Reporter {
  #root = process.cwd();
  readonly #path = process.env.GATE_RESULTS ?? '';

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#root = specifications[0]?.project.vitest.config.root ?? this.#root;
    for (const { project, moduleId } of specifications)
      this.#write({ kind: 'queued', project: project.name, file: relative(this.#root, moduleId) });
  }

  onTestModuleEnd(module: TestModule): void {
    const suites = [...module.children.allSuites()];
    const tests = [...module.children.allTests()].map(resultOf);
    const errors = [module, ...suites].flatMap((each) => each.errors().map(textOf));
    // A file that failed says so, whatever failed in it.
    const isUnexplained = !module.ok() && errors.length === 0 && !tests.some(({ state }) => state === 'failed');
    this.#write({
      kind: 'finished',
      project: module.project.name,
      file: relative(this.#root, module.moduleId),
      durationMs: Math.round(module.diagnostic().duration),
      tests,
      errors: isUnexplained ? ['the file failed without an error'] : errors,
    });
  }

  onTestRunEnd(_modules: readonly TestModule[], uncaught: readonly object[]): void {
    for (const error of uncaught) {
      const path = 'VITEST_TEST_PATH' in error ? String(error.VITEST_TEST_PATH) : null;
      this.#write({ kind: 'uncaught', file: path && relative(this.#root, path), error: textOf(error) });
    }
  }

  #write(line: ResultLine): void {
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }
}

function resultOf(test: TestCase): TestResult {
  const { state, errors } = test.result();
  return {
    name: test.fullName,
    state: state === 'passed' || state === 'failed' ? state : 'skipped',
    durationMs: Math.round(test.diagnostic()?.duration ?? 0),
    ...(state === 'failed' && { error: errors.map(textOf).join('\n') }),
  };
}

function textOf(error: { message?: string; stack?: string; stacks?: readonly object[] }): string {
  return error.stack?.includes(error.message ?? '') ? error.stack : `${error.message}\n${error.stack ?? ''}`;
}
