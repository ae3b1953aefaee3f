import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, runCommand } from './command.ts';
import { renderSummary, type StepOutcome } from './report.ts';
import { RINGS, SEEDS } from './rings.ts';
import { runTests } from './run-tests.ts';

const USAGE = `node load-tests/gate/main.ts land|verify|explore [--only STEP] [--seed N]

Runs the steps of a ring one after the other, each to its end, whatever failed before. A file of tests that fails is run
again alone, at most twice; if it passes then, it is printed as flaky. Results are kept in test-results/RING.json.
Without --seed, random tests have a seed made of the commit.`;

const { values, positionals } = parseArgs({
  options: { only: { type: 'string', multiple: true }, seed: { type: 'string' } },
  allowPositionals: true,
});
const [name = ''] = positionals;
const seed = Number(values.seed ?? seedOfCommit());
const ring = RINGS[name]?.(seed);
if (ring === undefined || !Number.isSafeInteger(seed)) {
  console.error(USAGE);
  process.exit(2);
}
const steps = ring.filter((step) => values.only?.includes(step.name) ?? true);
if (steps.length === 0) {
  console.error(`ring ${name} has the steps ${ring.map((step) => step.name).join(', ')}`);
  process.exit(2);
}

for (const variable of SEEDS) process.env[variable] ??= String(seed);
console.log(`seed ${seed}`);
const outcomes: StepOutcome[] = [];
for (const step of steps) {
  const startedMs = performance.now();
  console.log(`\n== ${step.name} (${Math.round(startedMs / 1000)} s so far)`);
  const outcome =
    'tests' in step
      ? { ...(await runTests(step.tests, runCommand)), code: null }
      : { files: [], flaky: [], errors: [], code: await runCommand(step.command, step) };
  outcomes.push({ name: step.name, ms: performance.now() - startedMs, ...outcome });
}
const { text, failed } = renderSummary(outcomes);
mkdirSync(join(ROOT, 'test-results'), { recursive: true });
writeFileSync(join(ROOT, 'test-results', `${name}.json`), JSON.stringify({ seed, outcomes }, null, 1));
console.log(text);
process.exitCode = failed > 0 ? 1 : 0;

/** The same commit is tested with the same inputs, the next one with others. */
function seedOfCommit(): number {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  return Number.parseInt(commit.slice(0, 7), 16);
}
