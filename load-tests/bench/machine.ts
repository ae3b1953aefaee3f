import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

/** From this share of all cores on, what others use changes what is measured. */
const BUSY_SHARE = 0.1;

/** Processor time that was used up to a moment, seconds. */
export interface CpuTimes {
  /** By everything on the machine, and what other machines took of its cores. */
  machine: number;
  /** By this process and the processes that it started and that have ended. */
  own: number;
  atMs: number;
}

/** What the figures were measured on. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  node: string;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown processor',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    node: process.version,
  };
}

/** Null on systems without `/proc`. */
export async function readCpuTimes(): Promise<CpuTimes | null> {
  const [all, self] = await Promise.all([
    readFile('/proc/stat', 'latin1').catch(() => null),
    readFile('/proc/self/stat', 'latin1').catch(() => null),
  ]);
  if (all === null || self === null) return null;
  return { machine: machineSeconds(all), own: ownSeconds(self), atMs: performance.now() };
}

/** @param text of `/proc/stat`, in hundredths of a second: user, nice, system, idle, iowait, irq, softirq, steal */
export function machineSeconds(text: string): number {
  const fields = /^cpu +(.*)$/m.exec(text)?.[1]?.split(' ').map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields;
  return (user + nice + system + irq + softirq + steal) / 100;
}

/** @param text of `/proc/self/stat`: fields 14 to 17 are its own time and that of its ended children */
export function ownSeconds(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
}

/** How many cores others used between two moments, on average. */
export function othersCores(before: CpuTimes | null, after: CpuTimes | null): number | null {
  if (before === null || after === null || after.atMs <= before.atMs) return null;
  const others = after.machine - before.machine - (after.own - before.own);
  return Math.max(0, others / ((after.atMs - before.atMs) / 1000));
}

/** What others use now, while this process waits. */
export async function coresInUse(forMs = 2000): Promise<number | null> {
  const before = await readCpuTimes();
  await wait(forMs);
  return othersCores(before, await readCpuTimes());
}

/** Do others use so much that figures measured beside them say little? */
export function isBusy(others: number | null, cores: number): boolean {
  return others !== null && others > cores * BUSY_SHARE;
}
