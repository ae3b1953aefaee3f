import { tcpProtocols } from '@outrider/protocols';
import type { Target } from '../target.ts';

/** Modules are loaded one by one: what is counted of a thread's blocks is then little beside what is looked at. */
const modules: readonly { names: readonly string[]; load(): Promise<readonly Target[]> }[] = [
  {
    names: tcpProtocols.map(({ name }) => `decoder ${name}`),
    load: async () => (await import('./sessions.ts')).sessionTargets,
  },
  { names: ['decoder osmand'], load: async () => [(await import('./osmand.ts')).osmandTarget] },
  {
    names: ['decoder jt1078', 'footage'],
    load: async () => {
      const { footageTarget, streamTarget } = await import('./media.ts');
      return [streamTarget, footageTarget()];
    },
  },
  {
    names: ['log telemetry', 'log events', 'log late', 'log definitions', 'log dead letters'],
    load: async () => (await import('./log-records.ts')).logRecordTargets,
  },
  {
    names: ['live messages', 'csv of vehicles', 'geojson', 'cursors and headers'],
    load: async () => (await import('./requests.ts')).requestTargets,
  },
];

/** All pure code that is fuzzed. */
export const targetNames: readonly string[] = modules.flatMap(({ names }) => names);

/** @throws {Error} when there is no such target */
export async function loadTarget(name: string): Promise<Target> {
  const module = modules.find(({ names }) => names.includes(name));
  const target = (await module?.load())?.find((one) => one.name === name);
  if (!target) throw new Error(`there is no target ${name}`);
  return target;
}
