import { readdir, readFile } from 'node:fs/promises';

/*
 * What a process and those that it started take, from `/proc`: the service has ClickHouse in a process of its own,
 * which comes and goes. All of it is null or empty on systems without `/proc`.
 */

/** The process, and those of its children that run. */
async function processesOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

/** A number of `/proc/<pid>/status`, such as `VmRSS` in kB, of all of them together. */
export async function statusOf(pid: number, field: string): Promise<number | null> {
  const texts = await Promise.all((await processesOf(pid)).map(statusText));
  const found = texts.flatMap((text) => numberIn(text, field) ?? []);
  return found.length === 0 ? null : found.reduce((sum, number) => sum + number, 0);
}

/** How often their threads were woken from waiting, all that run now. */
export async function wakesOf(pid: number): Promise<number | null> {
  const texts = await Promise.all((await threadsOf(pid)).map((folder) => textOf(`${folder}/status`)));
  if (texts.length === 0) return null;
  return texts.reduce((sum, text) => sum + (numberIn(text, 'voluntary_ctxt_switches') ?? 0), 0);
}

/** Seconds of processor time of a process since its start, without those that it started. */
export async function cpuSecondsOf(pid: number): Promise<number | null> {
  return (await statOf(`/proc/${pid}`))?.seconds ?? null;
}

/** The same with those that it started, also those that have ended. */
export async function treeCpuSecondsOf(pid: number): Promise<number | null> {
  const stats = await Promise.all((await processesOf(pid)).map((each) => statOf(`/proc/${each}`)));
  const [own] = stats;
  if (!own) return null;
  return stats.reduce((sum, stat) => sum + (stat?.seconds ?? 0), own.endedSeconds);
}

/** The same by name of threads that run, and of all children that have ended. */
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

/** The `stat` file of a process or a thread; null if it does not exist. */
async function statOf(folder: string): Promise<{ name: string; seconds: number; endedSeconds: number } | null> {
  const stat = await textOf(`${folder}/stat`);
  if (stat === '') return null;
  const end = stat.lastIndexOf(')');
  // After the name in brackets: field 3 on; 14 to 17 are utime, stime, and those of ended children, in hundredths.
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
