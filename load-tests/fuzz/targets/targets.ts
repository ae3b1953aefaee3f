import { datagramProtocols, tcpProtocols, topicProtocols } from '@outrider/protocols';
import type { Target } from '../target.ts';

/** Modules are loaded one by one: what is counted of a thread's blocks is then little beside what is looked at. */
const modules: readonly { names: readonly string[]; load(): Promise<readonly Target[]> }[] = [
  {
    names: tcpProtocols.map(({ name }) => `decoder ${name}`),
    load: async () => (await import('./sessions.ts')).sessionTargets,
  },
  {
    names: datagramProtocols.map(({ name }) => `datagrams ${name}`),
    load: async () => (await import('./sessions.ts')).datagramTargets,
  },
  { names: ['decoder osmand'], load: async () => [(await import('./osmand.ts')).osmandTarget] },
  {
    names: topicProtocols.map(({ name }) => `decoder ${name}`),
    load: async () => (await import('./json.ts')).jsonTargets,
  },
  {
    names: ['decoder jt1078', 'footage'],
    load: async () => {
      const { footageTarget, streamTarget } = await import('./media.ts');
      return [streamTarget, footageTarget()];
    },
  },
  {
    names: [
      'log telemetry',
      'log telemetry in the archive',
      'log events',
      'log late',
      'log corrections',
      'log definitions',
      'log dead letters',
    ],
    load: async () => (await import('./log-records.ts')).logRecordTargets,
  },
  {
    names: ['live messages', 'csv of vehicles and drivers', 'geojson', 'files of places', 'cursors and headers'],
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
