import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, runCommand } from './command.ts';
import { renderSummary, type StepOutcome } from './report.ts';
import { RINGS, SEEDS } from './rings.ts';
import { runTests } from './run-tests.ts';

const USAGE = `node load-tests/gate/main.ts land|verify|explore [--only STEP] [--resume] [--seed N]

Runs the steps of a ring one after the other, each to its end, whatever failed before. A file of tests that fails is run
again alone, at most twice; if it passes then, it is printed as flaky. Results are kept in test-results/RING.json.
With --resume, steps that passed before with the same commit and seed are not run again, so that a ring can be
interrupted. Without --seed, random tests have a seed made of the commit.`;

/** What is kept of a ring. */
interface Results {
  /** Null where files had changed since the commit. */
  commit: string | null;
  seed: number;
  outcomes: readonly StepOutcome[];
}

const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    resume: { type: 'boolean', default: false },
    seed: { type: 'string' },
  },
  allowPositionals: true,
});
const [name = ''] = positionals;
const head = git('rev-parse', 'HEAD');
/** The same commit is tested with the same inputs, the next one with others. */
const seed = Number(values.seed ?? Number.parseInt(head.slice(0, 7), 16));
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

const path = join(ROOT, 'test-results', `${name}.json`);
mkdirSync(dirname(path), { recursive: true });
const commit = git('status', '--porcelain') === '' ? head : null;
/** By step, in the order in which they ran. */
const outcomes = new Map<string, StepOutcome>();
if (values.resume) for (const outcome of passedBefore()) outcomes.set(outcome.name, outcome);

for (const variable of SEEDS) process.env[variable] ??= String(seed);
console.log(`seed ${seed}`);
for (const step of steps) {
  const startedMs = performance.now();
  const isKnown = outcomes.has(step.name);
  console.log(`\n== ${step.name} (${isKnown ? 'passed before' : `${Math.round(startedMs / 1000)} s so far`})`);
  if (isKnown) continue;
  const outcome =
    'tests' in step
      ? { ...(await runTests(step.tests, runCommand)), code: null }
      : { files: [], flaky: [], errors: [], code: await runCommand(step.command, step) };
  outcomes.set(step.name, { name: step.name, ms: performance.now() - startedMs, ...outcome });
  const results: Results = { commit, seed, outcomes: [...outcomes.values()] };
  writeFileSync(path, JSON.stringify(results, null, 1));
}
const { text, failed } = renderSummary(steps.flatMap(({ name: step }) => outcomes.get(step) ?? []));
console.log(text);
process.exitCode = failed > 0 ? 1 : 0;

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
}

/** What is known of the same ring on the same commit, of the steps that passed. */
function passedBefore(): readonly StepOutcome[] {
  if (commit === null || !existsSync(path)) return [];
  const kept = JSON.parse(readFileSync(path, 'utf8')) as Results;
  if (kept.commit !== commit || kept.seed !== seed) return [];
  return kept.outcomes.filter((outcome) => renderSummary([outcome]).failed === 0);
}
