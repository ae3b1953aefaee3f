import type { VehicleId } from '@outrider/domain';
import type { JobFacts } from '@outrider/registry';

/** Kinds of jobs that recalculate. */
export const RECALCULATIONS = ['late-data', 'old-data', 'recalculate-vehicle', 'recalculate-geozone'] as const;

/**
 * Maximum age of late data. Older data gets a job of its own, kind `old-data`: a terminal with a wrong date must not
 * have all of its vehicle's history recalculated together with what came late today. Nobody is notified of its changes.
 */
export const MAX_LATE_MS = 31 * 86_400_000;

/** Parameters of a job of any of {@link RECALCULATIONS}: the time range to recalculate. */
export interface RecalculatedInterval {
  fromMs: number;
  toMs: number;
  /** For late data: when the gateway received the first of it; null: recalculate in any case. */
  receivedAtMs: number | null;
  /** Whether the interval was recalculated before, and no late data came since. */
  isRepeat?: boolean;
}

/** Results up to now, and where to resume. */
export interface Progress {
  /** The last vehicle that was completed. */
  afterVehicleId: VehicleId | null;
  vehicles: number;
  positions: number;
  added: number;
  changed: number;
  removed: number;
  /** Number of failures since the last progress. */
  failures: number;
}

export const NOTHING: Progress = {
  afterVehicleId: null,
  vehicles: 0,
  positions: 0,
  added: 0,
  changed: 0,
  removed: 0,
  failures: 0,
};

/** Parameters of one job for two intervals: it covers both, and the time between them. */
export function mergedIntervals(waiting: JobFacts, added: JobFacts): JobFacts {
  const [a, b] = [waiting as unknown as RecalculatedInterval, added as unknown as RecalculatedInterval];
  const receivedAtMs =
    a.receivedAtMs === null || b.receivedAtMs === null ? null : Math.min(a.receivedAtMs, b.receivedAtMs);
  const interval = { fromMs: Math.min(a.fromMs, b.fromMs), toMs: Math.max(a.toMs, b.toMs), receivedAtMs };
  const isRepeat = a.isRepeat === true && b.isRepeat === true;
  return { ...interval, ...(isRepeat && { isRepeat }) } satisfies RecalculatedInterval;
}
