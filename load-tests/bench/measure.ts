/**
 * Runs each of some things in turn, again and again for about `forMs`, and gives the seconds of each one's fastest run.
 * In turn, so that all meet the same machine; the fastest, because whatever else the machine does can only slow a run
 * down.
 */
export function fastest<Name extends string>(runs: Record<Name, () => void>, forMs = 2000): Record<Name, number> {
  const until = performance.now() + forMs;
  return leastOf(
    runs,
    () => performance.now() / 1000,
    (round) => round < 3 || performance.now() < until,
  );
}

/** The same of processor seconds, all threads of this process, in so many rounds. */
export function cheapest<Name extends string>(runs: Record<Name, () => void>, rounds: number): Record<Name, number> {
  return leastOf(runs, cpuSeconds, (round) => round < rounds);
}

/** @param seconds used up to now */
function leastOf<Name extends string>(
  runs: Record<Name, () => void>,
  seconds: () => number,
  goesOn: (round: number) => boolean,
): Record<Name, number> {
  const names = Object.keys(runs) as Name[];
  const best = Object.fromEntries(names.map((name) => [name, Number.POSITIVE_INFINITY])) as Record<Name, number>;
  for (let round = 0; goesOn(round); round++)
    for (const name of names) {
      const start = seconds();
      runs[name]();
      best[name] = Math.min(best[name], seconds() - start);
    }
  return best;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * The value that a share of all values does not exceed; the nearest rank.
 *
 * @param share 0 to 1
 * @throws {RangeError} when there are no values
 */
export function percentile(values: readonly number[], share: number): number {
  return percentiles(values)(share);
}

/** As {@link percentile}, for several shares of the same values: they are put in order once. */
export function percentiles(values: readonly number[]): (share: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (share) => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    if (value === undefined) throw new RangeError('a percentile of nothing');
    return value;
  };
}

export interface Timed {
  seconds: number;
  /** That this process used meanwhile. */
  cpuSeconds: number;
}

/** How long some work took, and what this process used for it. */
export async function timed(work: () => Promise<void>): Promise<Timed> {
  const cpuBefore = cpuSeconds();
  const begun = performance.now();
  await work();
  return { seconds: (performance.now() - begun) / 1000, cpuSeconds: cpuSeconds() - cpuBefore };
}
