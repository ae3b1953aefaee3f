import { readdir, readFile } from 'node:fs/promises';

/*
 * Resource usage of a process and its children, from `/proc`. The service runs ClickHouse as a separate process, which
 * comes and goes. All results are null or empty on systems without `/proc`.
 */

/** The process and its running children. */
export async function processesOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

/** Sum of a number of `/proc/<pid>/status`, such as `VmRSS` in kB, over the process and its children. */
export async function statusOf(pid: number, field: string): Promise<number | null> {
  const texts = await Promise.all((await processesOf(pid)).map(statusText));
  const found = texts.flatMap((text) => numberIn(text, field) ?? []);
  return found.length === 0 ? null : found.reduce((sum, number) => sum + number, 0);
}

/** Voluntary context switches of all running threads of the process and its children. */
export async function wakesOf(pid: number): Promise<number | null> {
  const texts = await Promise.all((await threadsOf(pid)).map((folder) => textOf(`${folder}/status`)));
  if (texts.length === 0) return null;
  return texts.reduce((sum, text) => sum + (numberIn(text, 'voluntary_ctxt_switches') ?? 0), 0);
}

/** CPU seconds of a process since its start, without its children. */
export async function cpuSecondsOf(pid: number): Promise<number | null> {
  return (await statOf(`/proc/${pid}`))?.seconds ?? null;
}

/** CPU seconds of a process and its children, including children that have ended. */
export async function treeCpuSecondsOf(pid: number): Promise<number | null> {
  const stats = await Promise.all((await processesOf(pid)).map((each) => statOf(`/proc/${each}`)));
  const [own] = stats;
  if (!own) return null;
  return stats.reduce((sum, stat) => sum + (stat?.seconds ?? 0), own.endedSeconds);
}

/** CPU seconds by name of running threads, with one entry for all children that have ended. */
export async function threadCpuSecondsOf(pid: number): Promise<Map<string, number>> {
  const byName = new Map<string, number>();
  const add = (name: string, seconds: number) => byName.set(name, (byName.get(name) ?? 0) + seconds);
  for (const stat of await Promise.all((await threadsOf(pid)).map(statOf))) if (stat) add(stat.name, stat.seconds);
  const own = await statOf(`/proc/${pid}`);
  if (own) add('ended processes', own.endedSeconds);
  return byName;
}

async function threadsOf(pid: number): Promise<string[]> {
  const all = await Promise.all(
    (await processesOf(pid)).map(async (each) => {
      const folder = `/proc/${each}/task`;
      return (await readdir(folder).catch(() => [])).map((thread) => `${folder}/${thread}`);
    }),
  );
  return all.flat();
}

/** Parses the `stat` file of a process or a thread; null if it does not exist. */
async function statOf(folder: string): Promise<{ name: string; seconds: number; endedSeconds: number } | null> {
  const stat = await textOf(`${folder}/stat`);
  if (stat === '') return null;
  const end = stat.lastIndexOf(')');
  // Fields are counted from 3, after the name in brackets. 14 to 17 are utime, stime, and those of ended children, in
  // hundredths of a second.
  const [own = 0, system = 0, ended = 0, endedSystem = 0] = stat
    .slice(end + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return {
    name: stat.slice(stat.indexOf('(') + 1, end),
    seconds: (own + system) / 100,
    endedSeconds: (ended + endedSystem) / 100,
  };
}

const statusText = (pid: number) => textOf(`/proc/${pid}/status`);

function textOf(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => '');
}

function numberIn(text: string, field: string): number | null {
  const found = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
