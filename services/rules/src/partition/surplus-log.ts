import type { Clock } from '@outrider/domain';
import type { SurplusCount } from '@outrider/engine';
import type { Logger } from '@outrider/runtime';
import type { RulesMetrics } from '../metrics.ts';

const LOG_EVERY_MS = 60_000;
/** Maximum number of vehicles named in a log line. */
const MAX_VEHICLES = 20;

/** Counts the geofences and events beyond the caps, and logs the counts once per minute. */
export class SurplusLog {
  readonly #partition: number;
  readonly #parts: { logger: Logger; metrics: RulesMetrics; clock: Clock };
  /** Counts since the last log line. */
  #sum: SurplusCount = { geofences: 0, events: 0, vehicles: new Set() };
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(partition: number, parts: { logger: Logger; metrics: RulesMetrics; clock: Clock }) {
    this.#partition = partition;
    this.#parts = parts;
  }

  add({ geofences, events, vehicles }: SurplusCount): void {
    const { metrics, logger, clock } = this.#parts;
    metrics.surplusGeofences.inc(geofences);
    metrics.surplusEvents.inc(events);
    const sum = this.#sum;
    sum.geofences += geofences;
    sum.events += events;
    for (const vehicle of vehicles) if (sum.vehicles.size < MAX_VEHICLES) sum.vehicles.add(vehicle);
    if (sum.vehicles.size === 0 || clock.now() - this.#loggedAtMs < LOG_EVERY_MS) return;
    logger.warn(
      { partition: this.#partition, geofences: sum.geofences, events: sum.events, vehicleIds: [...sum.vehicles] },
      'geofences or events above the caps are left out',
    );
    this.#loggedAtMs = clock.now();
    this.#sum = { geofences: 0, events: 0, vehicles: new Set() };
  }
}
