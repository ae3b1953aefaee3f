import type { Clock, Incident } from '@outrider/domain';
import type { Incidents } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';

export interface EscalationsParts {
  pollMs: number;
  incidents: Pick<Incidents, 'escalateDue'>;
  /** Publishes the escalated incidents at the hub. */
  announce(escalated: readonly Incident[]): Promise<void>;
  logger: Logger;
  clock: Clock;
}

/**
 * Escalates incidents that nobody has acknowledged in time. All instances run this; the registry escalates each
 * incident once.
 */
export class Escalations {
  readonly #parts: EscalationsParts;

  constructor(parts: EscalationsParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { pollMs, incidents, announce, logger, clock } = this.#parts;
    while (!signal.aborted) {
      try {
        const escalated = await incidents.escalateDue();
        for (const { id, ruleId, severity } of escalated)
          logger.info({ incidentId: id, ruleId, severity }, 'incident escalated: nobody has acknowledged it');
        if (escalated.length > 0) await announce(escalated);
      } catch (error) {
        if (signal.aborted) return;
        logger.error({ err: error }, 'escalating incidents failed; retrying');
      }
      await clock.pause(pollMs, signal);
    }
  }
}
