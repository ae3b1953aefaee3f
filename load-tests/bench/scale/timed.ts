export interface Timed {
  seconds: number;
  /** That this process used meanwhile. */
  cpuSeconds: number;
}

export async function timed(work: () => Promise<void>): Promise<Timed> {
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds, cpuSeconds: (user + system) / 1e6 };
}
