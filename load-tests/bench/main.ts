import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import type { SectionReport } from './section.ts';
import type { SectionMessage } from './section-process.ts';
import { chooseSections, type SectionName, sectionNames } from './sections.ts';
import { renderTable } from './table.ts';

const USAGE = `npm run bench -- [section …] [--quick] [--json FILE]

Sections: ${sectionNames.join(', ')}. All of them but recalculation, reports, scale and returning-kafka where none is named. Tables go to the terminal as they come; the results go
as one JSON to FILE, or to standard output at the end. --quick measures a tenth: to see that it works, not to know how
fast it is.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
let names: SectionName[];
try {
  names = chooseSections(positionals);
} catch (error) {
  console.error(`${(error as Error).message}\n\n${USAGE}`);
  process.exit(1);
}

const [load = 0] = loadavg();
if (load > 0.5)
  console.error(
    `The machine is busy with something else (load average ${load.toFixed(1)}): what is measured will be too low.`,
  );

const results: Record<string, unknown> = {};
const failed: SectionName[] = [];
for (const name of names) {
  console.error(`\n▸ ${name}`);
  const started = performance.now();
  try {
    const { tables, result } = await runSection(name);
    results[name] = result;
    for (const table of tables) console.error(`\n${renderTable(table)}`);
  } catch (error) {
    failed.push(name);
    results[name] = { error: (error as Error).message };
    console.error(`${name} failed: ${(error as Error).message}`);
  }
  console.error(`\n  (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}

const json = JSON.stringify(
  {
    at: new Date().toISOString(),
    quick: values.quick,
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    loadBefore: load,
    memoryMb: Math.round(totalmem() / 1e6),
    sections: results,
  },
  null,
  2,
);
if (values.json) await writeFile(values.json, `${json}\n`);
else console.log(json);
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

/** @throws {Error} the error of the section, or that its process ended without one */
function runSection(name: SectionName): Promise<SectionReport> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./section-process.ts', import.meta.url), [name, ...(values.quick ? ['--quick'] : [])], {
      // The JSON alone goes to standard output.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    child.stdout?.pipe(process.stderr);
    child.on('message', (message: SectionMessage) => {
      if ('progress' in message) console.error(`  ${message.progress}`);
      else if ('report' in message) resolve(message.report);
      else reject(new Error(message.error));
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => reject(new Error(`its process ended (${signal ?? code})`)));
  });
}
