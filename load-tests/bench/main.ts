import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { coresInUse, isBusy, othersCores, readCpuTimes, thisMachine } from './machine.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { profileTables } from './profiles.ts';
import type { SectionMessage, SectionRun } from './section-process.ts';
import type { SectionName } from './sections.ts';
import { type Summary, summarise, summaryTable } from './summary.ts';
import { renderMarkdown, renderTable, wrapped } from './table.ts';

/** One run of a section, and what others used of the machine meanwhile. */
interface Measured {
  section: SectionName;
  run: SectionRun | null;
  error: string | null;
  seconds: number;
  othersCores: number | null;
}

const BUSY_CODE = 2;
const options = optionsOrExit();
const machine = thisMachine();
const before = await coresInUse();
if (isBusy(before, machine.cores) && !options.isAnyway) {
  console.error(
    `Others use ${before?.toFixed(2)} of ${machine.cores} cores: figures would be of them too. Wait, or add --anyway.`,
  );
  process.exit(BUSY_CODE);
}
const begun = performance.now();
const all = await measureAll(options);
const seconds = Math.round((performance.now() - begun) / 1000);
const summaries = options.names.flatMap((name) =>
  summarise(
    name,
    all.filter(({ section, run }) => section === name && run !== null).map(({ run }) => run?.figures ?? []),
  ),
);
if (options.profiles === null) printSummary(summaries);
else for (const table of profileTables(options.profiles)) console.log(`\n${renderTable(table)}`);
if (options.json !== null) await writeFile(options.json, `${JSON.stringify(asJson(), null, 2)}\n`);
const failed = new Set(all.filter(({ error }) => error !== null).map(({ section }) => section));
if (failed.size > 0) {
  console.error(`failed: ${[...failed].join(', ')}`);
  process.exitCode = 1;
}

function optionsOrExit(): Options {
  try {
    const read = readOptions(process.argv.slice(2));
    if (!read.isHelp) return read;
    console.log(USAGE);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(1);
  }
  process.exit(0);
}

/** A run of each section, and again: so that a quiet or a busy minute is not one section's alone. */
async function measureAll({ names, runs }: Options): Promise<Measured[]> {
  const measured: Measured[] = [];
  const jobs = Array.from({ length: runs }, (_, nth) => names.map((section) => ({ section, nth }))).flat();
  for (const [done, { section, nth }] of jobs.entries()) {
    const elapsed = (performance.now() - begun) / 1000;
    const left = done < names.length ? '' : `, about ${clock((elapsed / done) * (jobs.length - done))} left`;
    console.error(`\n▸ ${section}, run ${nth + 1} of ${runs} (${clock(elapsed)} so far${left})`);
    const each = await measureOne(section);
    measured.push(each);
    if (each.error !== null) console.error(`${section} failed: ${each.error}`);
    // In the short form the summary says it all.
    if (!options.isQuick || options.names.length === 1)
      for (const table of each.run?.tables ?? []) console.error(`\n${renderTable(table)}`);
  }
  return measured;
}

async function measureOne(section: SectionName): Promise<Measured> {
  const times = await readCpuTimes();
  const started = performance.now();
  const [run, error] = await runSection(section).then(
    (value) => [value, null] as const,
    (reason: Error) => [null, reason.message] as const,
  );
  const others = othersCores(times, await readCpuTimes());
  return { section, run, error, seconds: (performance.now() - started) / 1000, othersCores: others };
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** The machine, what it had to do beside, and how it was measured: without these no figure means anything. */
function conditions(): string {
  const { cpu, cores, memoryGb, node } = machine;
  const known = all.map(({ othersCores: each }) => each).filter((each) => each !== null);
  const most = known.length === 0 ? null : Math.max(...known);
  const load =
    most === null
      ? 'what others used is unknown'
      : `others used ${most.toFixed(2)} cores at most${isBusy(most, cores) ? ': BUSY, no measure of the service' : ''}`;
  const length = options.isQuick ? 'short' : 'full';
  const failures = all.filter(({ error }) => error !== null).map(({ section }) => section);
  const lacking = failures.length === 0 ? '' : `; a run failed of ${failures.join(', ')}`;
  return `${new Date().toISOString().slice(0, 10)}, ${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}; ${options.runs} ${length} runs each in ${clock(seconds)}; ${load}${lacking}`;
}

function printSummary(rows: readonly Summary[]): void {
  const table = summaryTable(`Medians and spreads. ${conditions()}`, rows);
  const bares = options.names.flatMap((name) => {
    const bare = all.find(({ section, run }) => section === name && run !== null)?.run?.bare;
    return bare ? [`${name}: ${bare}`] : [];
  });
  if (options.isMarkdown) {
    const list = bares.map((line) => wrapped(`- ${line}`, '  '));
    console.log(`${wrapped(`${conditions()}.`)}\n\n${renderMarkdown(table)}\n\nBare:\n\n${list.join('\n')}`);
    return;
  }
  console.log(`\n${renderTable(table)}\n\nBare is, for\n${bares.map((line) => `  ${line}`).join('\n')}`);
}

function asJson() {
  return {
    at: new Date().toISOString(),
    ...machine,
    quick: options.isQuick,
    othersCoresBefore: before,
    seconds,
    summaries,
    runs: all.map(({ run, ...rest }) => ({ ...rest, figures: run?.figures ?? [], result: run?.result ?? null })),
  };
}

/** @throws {Error} the error of the section, or that its process ended without one */
function runSection(name: SectionName): Promise<SectionRun> {
  const profiles = options.profiles === null ? null : absolute(options.profiles);
  if (profiles !== null) mkdirSync(profiles, { recursive: true });
  return new Promise((resolve, reject) => {
    const args = [name, ...(options.isQuick ? ['--quick'] : [])];
    const child = fork(new URL('./section-process.ts', import.meta.url), args, {
      // The tables alone go to standard output.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      serialization: 'advanced',
      // The service of a section is started with the same (`road/service.ts`).
      execArgv: profiles === null ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles],
    });
    child.stdout?.pipe(process.stderr);
    let found: SectionRun | null = null;
    child.on('message', (message: SectionMessage) => {
      if ('progress' in message) console.error(`  ${message.progress}`);
      else if ('run' in message) found = message.run;
      else reject(new Error(message.error));
    });
    child.on('error', reject);
    // Only then its processor time counts as that of this process.
    child.on('exit', (code, signal) => {
      if (found !== null) resolve(found);
      else reject(new Error(`its process ended (${signal ?? code})`));
    });
  });
}
