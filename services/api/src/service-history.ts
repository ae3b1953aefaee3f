/** Series charted for the last hour. */
export const SERIES = [
  'positionsPerSecond',
  'requestsPerSecond',
  'archiveDelaySeconds',
  'terminals',
  'liveClients',
  'memoryBytes',
  'diskFreeBytes',
] as const;
export type SeriesName = (typeof SERIES)[number];

/** Values at one moment; null: not counted by this process. */
export type Sample = Readonly<Record<SeriesName, number | null>>;

/** How each series is derived from the metrics. Rates are of counters, which only grow. */
const SOURCES: Readonly<Partial<Record<SeriesName, { metric: string; as: 'sum' | 'highest' | 'rate' }>>> = {
  positionsPerSecond: { metric: 'outrider_positions_received_total', as: 'rate' },
  requestsPerSecond: { metric: 'outrider_http_requests_total', as: 'rate' },
  archiveDelaySeconds: { metric: 'outrider_archive_delay_seconds', as: 'highest' },
  terminals: { metric: 'outrider_terminal_connections', as: 'sum' },
  liveClients: { metric: 'outrider_live_clients', as: 'sum' },
  diskFreeBytes: { metric: 'outrider_disk_free_bytes', as: 'sum' },
};

/** Values of each metric by its name, whatever its labels. */
export function metricValues(text: string): Map<string, number[]> {
  const values = new Map<string, number[]>();
  for (const line of text.split('\n')) {
    const [, name, number] = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value)) continue;
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}

const KEPT_SAMPLES = 240;
export const STEP_MS = 15_000;

/** Samples of the last hour, kept in memory only: a restart begins anew. */
export class ServiceHistory {
  readonly #samples: { atMs: number; sample: Sample }[] = [];
  #counters: { atMs: number; values: ReadonlyMap<string, number> } | null = null;
  #latest: ReadonlyMap<string, readonly number[]> = new Map();

  /** @param memoryBytes of the process */
  add(text: string, atMs: number, memoryBytes: number): void {
    const values = metricValues(text);
    const sums = new Map([...values].map(([name, all]) => [name, all.reduce((sum, value) => sum + value, 0)]));
    const before = this.#counters;
    const read = (name: SeriesName): number | null => {
      const source = SOURCES[name];
      const all = source && values.get(source.metric);
      if (source === undefined || all === undefined) return null;
      const sum = sums.get(source.metric) ?? 0;
      if (source.as === 'highest') return Math.max(...all);
      if (source.as === 'sum') return sum;
      const earlier = before?.values.get(source.metric);
      if (before === null || earlier === undefined || atMs <= before.atMs) return null;
      return Math.max(0, sum - earlier) / ((atMs - before.atMs) / 1000);
    };
    const figures = Object.fromEntries(SERIES.map((name) => [name, read(name)])) as Record<SeriesName, number | null>;
    this.#samples.push({ atMs, sample: { ...figures, memoryBytes } });
    if (this.#samples.length > KEPT_SAMPLES) this.#samples.shift();
    this.#counters = { atMs, values: sums };
    this.#latest = values;
  }

  get isEmpty(): boolean {
    return this.#samples.length === 0;
  }

  /** Sum of a metric at the last sample; null where this process does not count it. */
  latest(metric: string): number | null {
    const values = this.#latest.get(metric);
    return values === undefined ? null : values.reduce((sum, value) => sum + value, 0);
  }

  /** The oldest first. */
  get samples(): readonly { atMs: number; sample: Sample }[] {
    return this.#samples;
  }
}
