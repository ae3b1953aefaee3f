import type { EventId, FleetEvent, TelemetryPacket, VehicleId } from '@outrider/domain';
import { beganAtMs, recordMark, rejectionOf } from '@outrider/domain';
import type { HistoricEvent } from './correction.ts';
import type { ManyHistory } from './history-of-many.ts';
import { type HistoricPosition, touches } from './history-run.ts';
import type { LateArrivalsQuestion } from './recalculate-vehicle.ts';

interface Row extends HistoricEvent {
  /** Of several rows with one id the one with the highest stands. */
  precedence: number;
}

/** The archive in memory, by the same laws as the real one, in their plainest form. */
export class MemoryHistory implements ManyHistory {
  readonly #positions = new Map<VehicleId, Map<string, HistoricPosition>>();
  readonly #rows = new Map<EventId, Row>();
  /** Rows that recalculations wrote up to now. */
  replacements = 0;

  archivePacket({ vehicleId, receivedAtMs, terminalId, protocol, positions }: TelemetryPacket): void {
    const track = this.#positions.get(vehicleId) ?? new Map<string, HistoricPosition>();
    this.#positions.set(vehicleId, track);
    for (const position of positions) {
      // What is in the future is so by the clock that it is read by; here all has come.
      const rejection = rejectionOf(position, Math.max(receivedAtMs, position.fixTimeMs));
      const key = `${position.fixTimeMs} ${rejection ?? ''} ${recordMark(position)}`;
      if (!track.has(key)) track.set(key, { ...position, receivedAtMs, terminalId, protocol, rejection });
    }
  }

  archiveEvents(events: readonly FleetEvent[]): void {
    for (const event of events)
      this.#put({ event, recalculation: null, removed: false, precedence: event.phase === 'begin' ? 0 : 1 });
  }

  /** What readers see: the events of a vehicle, in their latest phase, in order. */
  events(vehicleId: VehicleId): FleetEvent[] {
    return this.#of(vehicleId)
      .filter(({ removed }) => !removed)
      .map(({ event }) => event);
  }

  async track({ vehicleId, fromMs, toMs, limit, after }: Parameters<ManyHistory['track']>[0]) {
    const all = [...(this.#positions.get(vehicleId)?.values() ?? [])]
      .filter(({ fixTimeMs }) => fixTimeMs >= fromMs && fixTimeMs < toMs && fixTimeMs > (after?.fixTimeMs ?? -1))
      .toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
    // Records of one time come on one page.
    const lastMs = all[limit - 1]?.fixTimeMs ?? Number.POSITIVE_INFINITY;
    const positions = all.filter(({ fixTimeMs }) => fixTimeMs <= lastMs);
    return { positions, next: all.length > positions.length ? { fixTimeMs: lastMs, rejection: null } : null };
  }

  async startOfLastFixes({ vehicleId, throughMs, count }: Parameters<ManyHistory['startOfLastFixes']>[0]) {
    const fixes = [...(this.#positions.get(vehicleId)?.values() ?? [])];
    const times = fixes
      .filter(({ valid, rejection, fixTimeMs }) => valid && rejection === null && fixTimeMs <= throughMs)
      .map((fix) => fix.fixTimeMs);
    return (
      times
        .toSorted((a, b) => b - a)
        .slice(0, count)
        .at(-1) ?? null
    );
  }

  async archivedEvents(question: Parameters<ManyHistory['archivedEvents']>[0]) {
    const { vehicleId, fromMs, throughMs, untilMs, geofenceId } = question;
    const events = this.#of(vehicleId).filter(
      ({ event }) =>
        beganAtMs(event.id) >= fromMs &&
        beganAtMs(event.id) <= throughMs &&
        touches(event, untilMs) &&
        (geofenceId === null || ('geofenceId' in event && event.geofenceId === geofenceId)),
    );
    return { events, next: null };
  }

  async replaceEvents({ number, written, removed }: Parameters<ManyHistory['replaceEvents']>[0]) {
    const row = { recalculation: number, precedence: 2 + number };
    for (const event of written) this.#put({ ...row, event, removed: false });
    for (const event of removed) this.#put({ ...row, event, removed: true });
    this.replacements += written.length + removed.length;
  }

  /** Whatever came: to be said otherwise where it matters. */
  async hasLateArrivals(_: LateArrivalsQuestion): Promise<boolean> {
    return true;
  }

  haveLateArrivals(questions: Parameters<ManyHistory['haveLateArrivals']>[0]) {
    return Promise.all(questions.map((question) => this.hasLateArrivals(question)));
  }

  startsOfLastFixes(questions: Parameters<ManyHistory['startsOfLastFixes']>[0]) {
    return Promise.all(questions.map((question) => this.startOfLastFixes(question)));
  }

  archivedEventsOfMany(questions: Parameters<ManyHistory['archivedEventsOfMany']>[0], limit: number) {
    return Promise.all(
      questions.map((question) => this.archivedEvents({ ...question, geofenceId: null, limit, after: null })),
    );
  }

  judgedTracks(questions: Parameters<ManyHistory['judgedTracks']>[0], limit: number) {
    return Promise.all(
      questions.map((question) =>
        this.track({ ...question, toMs: Number.POSITIVE_INFINITY, withRejected: true, limit }),
      ),
    );
  }

  #put(row: Row): void {
    const known = this.#rows.get(row.event.id);
    if (known === undefined || row.precedence >= known.precedence) this.#rows.set(row.event.id, row);
  }

  #of(vehicleId: VehicleId): Row[] {
    return [...this.#rows.values()]
      .filter(({ event }) => event.vehicleId === vehicleId)
      .toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1));
  }
}
