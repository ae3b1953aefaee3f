import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Table } from './section.ts';

const TOP = 15;
const REPOSITORY = new URL('../../', import.meta.url).href;
/** Frames of the profiler that stand for no function. */
const IDLE = new Set(['(idle)', '(root)']);

/** A `.cpuprofile` of V8, as far as it is read here. */
export interface CpuProfile {
  nodes: readonly {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
  }[];
  samples: readonly number[];
  /** Microseconds before each sample. */
  timeDeltas: readonly number[];
}

export interface FunctionTime {
  /** With its file and line. */
  name: string;
  selfMs: number;
}

export interface ThreadTime {
  busyMs: number;
  functions: FunctionTime[];
  /** The module that a thread of this repository was started with, as far as the profile shows it. */
  entry: string | null;
}

/** How long each function ran itself, those it called not counted; the longest first. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): ThreadTime {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byName = new Map<string, number>();
  let busyMs = 0;
  for (const [nth, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || IDLE.has(frame.functionName)) continue;
    const ms = (timeDeltas[nth] ?? 0) / 1000;
    busyMs += ms;
    const { functionName, url, lineNumber } = frame;
    const place = url === '' ? '' : ` ${url.replace(REPOSITORY, '').replace(/^file:\/\//, '')}:${lineNumber + 1}`;
    const name = `${functionName || '(anonymous)'}${place}`;
    byName.set(name, (byName.get(name) ?? 0) + ms);
  }
  const functions = [...byName].map(([name, selfMs]) => ({ name, selfMs })).sort((a, b) => b.selfMs - a.selfMs);
  const entry = nodes.map(({ callFrame: { url } }) => url).find((url) => /(-worker|\/main|\/service)\.ts$/.test(url));
  return { busyMs, functions, entry: entry === undefined ? null : nameOf(entry) };
}

/** The service that a thread runs, or the file of its first module. */
function nameOf(entry: string): string {
  return /\/services\/(\w+)\/src\/(?:\w+\/)?service\.ts$/.exec(entry)?.[1] ?? basename(entry);
}

/** Tables of all profiles of a folder: a process and thread each, the busiest first. */
export function profileTables(folder: string): Table[] {
  const threads = readdirSync(folder)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => ({ file, ...selfTimes(JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile) }));
  return threads
    .sort((a, b) => b.busyMs - a.busyMs)
    .map(({ file, busyMs, functions, entry }) => {
      // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
      const [, , , pid, thread] = file.split('.');
      return {
        title: `Process ${pid}, thread ${thread}${entry === null ? '' : ` (${entry})`}: ${Math.round(busyMs)} ms busy; ${file}`,
        columns: ['self ms', 'share, %', 'function'],
        rows: functions.slice(0, TOP).map(({ name, selfMs }) => [selfMs, (selfMs / busyMs) * 100, name]),
      };
    });
}
