import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startAllServers } from '../servers/all.ts';
import { keepBusy, ROOT, runCommand } from './command.ts';

const USAGE = `npm run deflake -- FILE [FILE…] [--times 50]

Runs each file of tests many times, one after the other, while as many processes as there are processors keep them busy.
Ends with 1 if a run failed. What failed runs printed is kept in test-results/deflake.`;

const { values, positionals: files } = parseArgs({
  options: { times: { type: 'string', default: '50' } },
  allowPositionals: true,
});
const times = Number(values.times);
if (files.length === 0 || !(times >= 1)) {
  console.error(USAGE);
  process.exit(2);
}
const folder = join(ROOT, 'test-results/deflake');
mkdirSync(folder, { recursive: true });

// Servers are started once, before the processors are busy.
const servers = files.some((file) => file.endsWith('.servers.test.ts')) ? await startAllServers(console.log) : null;
const stop = keepBusy();
let failed = 0;
for (const file of files) {
  const failures: number[] = [];
  const startedMs = performance.now();
  for (let nth = 1; nth <= times; nth++) {
    const log = join(folder, `${file.replaceAll(/[/\\]/g, '_')}-${nth}.log`);
    const output = openSync(log, 'w');
    const code = await runCommand(['npx', 'vitest', 'run', file], {
      environment: servers?.environment ?? {},
      limitMs: 15 * 60_000,
      output,
    });
    closeSync(output);
    if (code === 0) rmSync(log);
    else failures.push(nth);
    if (process.stderr.isTTY) process.stderr.write(`\r${file}: ${nth} of ${times}, ${failures.length} failed `);
  }
  failed += failures.length;
  const seconds = (performance.now() - startedMs) / 1000;
  const which = failures.length > 0 ? `: runs ${failures.join(', ')}` : '';
  console.log(`${file}: ${failures.length} of ${times} failed${which} (${(seconds / times).toFixed(1)} s each)`);
}
stop();
await servers?.stop();
process.exitCode = failed > 0 ? 1 : 0;
