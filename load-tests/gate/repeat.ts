import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../bench/table.ts';
import { keepBusy, ROOT, runCommand } from './command.ts';

const USAGE = `npm run gate:repeat -- TIMES [--quiet]

Runs .ci/run in fresh clones of the commit, until it has run TIMES times, while another process keeps one processor busy
(not with --quiet). Runs of the same commit that were done before count, so that it can be interrupted and started
again; they are kept in test-results/gate-repeat. Ends with 1 if a run failed.`;

interface Run {
  seconds: number;
  /** The last line of the run's output. */
  counts: string;
  flaky: string[];
  passed: boolean;
}

const { values, positionals } = parseArgs({
  options: { quiet: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const times = Number(positionals[0]);
if (!(times >= 1)) {
  console.error(USAGE);
  process.exit(2);
}
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
const folder = join(ROOT, 'test-results/gate-repeat');
mkdirSync(folder, { recursive: true });
const kept = join(folder, `${commit}${values.quiet ? '-quiet' : ''}.json`);
const runs: Run[] = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : [];

const stop = values.quiet ? () => {} : keepBusy(1);
while (runs.length < times) {
  const run = await once(join(folder, `${commit}-${runs.length + 1}.log`));
  runs.push(run);
  writeFileSync(kept, JSON.stringify(runs, null, 1));
  console.log(`run ${runs.length}: ${run.counts} in ${run.seconds} s`);
}
stop();
console.log(
  renderTable({
    title: `.ci/run of ${commit}${values.quiet ? '' : ', one processor busy'}`,
    columns: ['run', 'seconds', 'result', 'flaky'],
    rows: runs.map(({ seconds, counts, flaky }, nth) => [nth + 1, seconds, counts, flaky.join('; ') || 'none']),
  }),
);
process.exitCode = runs.every(({ passed }) => passed) ? 0 : 1;

async function once(log: string): Promise<Run> {
  const scratch = mkdtempSync(join(tmpdir(), 'gate-repeat-'));
  const output = openSync(log, 'w');
  try {
    execFileSync('git', ['clone', '--quiet', '--no-local', ROOT, join(scratch, 'project')]);
    execFileSync('git', ['checkout', '--quiet', commit], { cwd: join(scratch, 'project') });
    const startedMs = performance.now();
    const code = await runCommand(['bash', '.ci/run'], {
      cwd: join(scratch, 'project'),
      environment: { CI: 'true' },
      limitMs: 90 * 60_000,
      output,
    });
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    return {
      seconds: Math.round((performance.now() - startedMs) / 1000),
      counts: lines.at(-1) ?? '',
      flaky: lines.filter((line) => line.startsWith('flaky: ')).map((line) => line.slice('flaky: '.length)),
      passed: code === 0,
    };
  } finally {
    closeSync(output);
    rmSync(scratch, { recursive: true, force: true });
  }
}
