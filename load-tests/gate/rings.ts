import type { TestCommand } from './run-tests.ts';

/** A part of a ring. Commands count as one test, which passes with exit code 0. */
export type Step = { name: string } & ({ tests: TestCommand } | { command: readonly string[]; limitMs: number });

const minutes = (count: number) => count * 60_000;
const npm = (...words: string[]) => ['npm', 'run', ...words];

const INSTALL: Step = {
  name: 'install',
  command: npm('services', '--', '--install'),
  limitMs: minutes(15),
};
const STATIC: readonly Step[] = [
  { name: 'check', command: npm('check'), limitMs: minutes(5) },
  { name: 'sbom', command: ['bash', '-c', 'npm run --silent sbom >/dev/null'], limitMs: minutes(2) },
  { name: 'audit', command: npm('--silent', 'audit'), limitMs: minutes(5) },
];

/** The headline sections of the benchmark, and those of whole services: three minutes in their short form. */
const BENCH_SECTIONS = ['pipeline', 'light', 'terminals', 'warehouse', 'notifications', 'returning'];

/** What every change must pass before it lands: cheap before dear, ten minutes on two quiet processors. */
function land(seed: number): readonly Step[] {
  return [
    INSTALL,
    ...STATIC,
    { name: 'quick', tests: { script: ['npm', 'test'], limitMs: minutes(15) } },
    { name: 'property', tests: { script: npm('test:property'), limitMs: minutes(15) } },
    { name: 'smoke', tests: { script: npm('test:smoke'), limitMs: minutes(15) } },
    {
      name: 'adapters',
      tests: { script: npm('test:servers'), filters: ['packages/'], limitMs: minutes(15) },
    },
    {
      name: 'browser',
      tests: {
        script: npm('test:browser'),
        // Of its pages one is tried, and how large the build is.
        filters: ['services/console/test/console'],
        limitMs: minutes(10),
      },
    },
    { name: 'fuzz', command: npm('fuzz', '--', '--minutes', '0.34', '--seed', String(seed)), limitMs: minutes(5) },
  ];
}

/** Everything else, and what *land* runs with few inputs with all of them. */
function verify(seed: number): readonly Step[] {
  const all = { TEST_RUNS: '1' };
  return [
    INSTALL,
    ...STATIC,
    { name: 'quick', tests: { script: ['npm', 'test'], environment: all, limitMs: minutes(30) } },
    { name: 'property', tests: { script: npm('test:property'), environment: all, limitMs: minutes(30) } },
    { name: 'smoke', tests: { script: npm('test:smoke'), environment: all, limitMs: minutes(30) } },
    { name: 'service', tests: { script: npm('test:service'), environment: all, limitMs: minutes(60) } },
    { name: 'browser', tests: { script: npm('test:browser'), limitMs: minutes(60) } },
    {
      name: 'isolation',
      tests: {
        script: npm('test:isolation'),
        environment: { RIGHTS_PAIRS: '200000', LIVE_PAIRS: '12500' },
        limitMs: minutes(60),
      },
    },
    {
      name: 'servers',
      tests: { script: npm('test:servers'), environment: all, limitMs: minutes(60) },
    },
    // As many rounds as the kinds of fault have places at most.
    {
      name: 'faults',
      tests: { script: npm('test:faults'), environment: { FAULT_ROUNDS: '16' }, limitMs: minutes(60) },
    },
    { name: 'fuzz', command: npm('fuzz', '--', '--minutes', '5', '--seed', String(seed)), limitMs: minutes(15) },
    // That they work: what they measure beside other programs is no figure. All sections would take hours.
    {
      name: 'bench',
      command: npm('bench', '--', ...BENCH_SECTIONS, '--quick', '--runs', '1', '--anyway'),
      limitMs: minutes(20),
    },
  ];
}

/** Hours, with more of everything random. Meant for a new seed each time. */
function explore(seed: number): readonly Step[] {
  const all = { TEST_RUNS: '1', CRASH_KILLS: '500', FAULT_ROUNDS: '20' };
  const run = (script: string) => ({
    name: script,
    tests: { script: npm(`test:${script}`), environment: all, limitMs: minutes(240) },
  });
  return [
    INSTALL,
    { name: 'audit', command: npm('--silent', 'audit', '--', '--strict'), limitMs: minutes(5) },
    { name: 'quick', tests: { script: ['npm', 'test'], environment: all, limitMs: minutes(60) } },
    ...['property', 'smoke', 'service', 'browser', 'isolation', 'servers', 'faults'].map(run),
    { name: 'fuzz', command: npm('fuzz', '--', '--nightly', '--seed', String(seed)), limitMs: minutes(180) },
  ];
}

export const RINGS: Readonly<Record<string, (seed: number) => readonly Step[]>> = { land, verify, explore };

/** The variables that seed random tests. */
export const SEEDS = ['ORACLE_SEED', 'RIGHTS_SEED', 'CRASH_SEED', 'LATE_SEED', 'FAULT_SEED', 'PROPERTY_SEED'] as const;
