import type { FleetEvent, GeofenceId, VehicleId } from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { WRITER_COLUMNS, writerOf } from '../events/replacement.ts';
import { boundMs } from '../native/time.ts';
import { cursorAfter, EVENT_COLUMNS, type EventsCursor, fleetEvent, MAX_EVENTS_LIMIT } from './events.ts';
import { fleetCondition, PAGE_LIMITS } from './fleet.ts';
import { ofVehicle, perVehicleParameters, queueOf } from './per-vehicle.ts';

export interface ArchivedEventsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix that began the event, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix that began the event, inclusive too. */
  throughMs: number;
  /** Only events that continued, or were reported, at or after this time (Unix milliseconds). */
  untilMs: number;
  /** Only events of this geofence; null: all. */
  geofenceId: GeofenceId | null;
  /** At most this many: 1 to 10,000. */
  limit: number;
  after: EventsCursor | null;
}

/** An event as stored in the archive. */
export interface ArchivedEvent {
  event: FleetEvent;
  /** Number of the recalculation that wrote the event; null: it was published live. */
  recalculation: number | null;
  /** True where a recalculation found that it never happened. */
  removed: boolean;
}

export interface ArchivedEvents {
  /** By begin, oldest first. */
  events: ArchivedEvent[];
  /** Null when there are no more. */
  next: EventsCursor | null;
}

/**
 * A vehicle's archived events, for a recalculation that corrects them: including removed ones, and with the writer of
 * each.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, or a time is not a number
 */
export async function archivedEvents(engine: Engine, question: ArchivedEventsQuestion): Promise<ArchivedEvents> {
  const { vehicleId, fromMs, throughMs, untilMs, geofenceId, limit, after } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_EVENTS_LIMIT))
    throw new RangeError(`The limit of events must be 1 to ${MAX_EVENTS_LIMIT}, not ${limit}`);
  const parameters: Record<string, string | number> = {
    vehicleId,
    fromMs: boundMs(fromMs),
    throughMs: boundMs(throughMs),
    untilMs: boundMs(untilMs),
    limit: limit + 1,
  };
  const conditions = [
    'vehicle_id = {vehicleId:UUID}',
    "began_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')",
    "began_at <= fromUnixTimestamp64Milli({throughMs:Int64}, 'UTC')",
    "(ended_at IS NULL OR greatest(fix_time, assumeNotNull(ended_at)) >= fromUnixTimestamp64Milli({untilMs:Int64}, 'UTC'))",
  ];
  if (geofenceId !== null) {
    parameters.geofenceId = geofenceId;
    conditions.push('geofence_id = {geofenceId:UUID}');
  }
  if (after) {
    parameters.afterMs = boundMs(after.beganAtMs);
    parameters.afterId = after.id;
    conditions.push("(began_at, id) > (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:UUID})");
  }
  const rows = await engine.select({
    sql: `SELECT ${WRITER_COLUMNS}, ${EVENT_COLUMNS} FROM events FINAL
      WHERE ${conditions.join(' AND ')} ORDER BY vehicle_id, began_at, id LIMIT {limit:UInt32}`,
    parameters,
  });
  return pageOf(rows.map(archivedEvent), limit);
}

/**
 * The first pages of {@link archivedEvents} for many vehicles, all of the same length, in one statement. Returns a
 * result for each query, in order.
 *
 * @throws {RangeError} when there are over 100 queries, two are about one vehicle, or a time is not a number
 */
export async function archivedEventsOfMany(
  engine: Engine,
  questions: readonly Omit<ArchivedEventsQuestion, 'geofenceId' | 'after' | 'limit'>[],
  limit: number,
): Promise<ArchivedEvents[]> {
  if (questions.length === 0) return [];
  const rows = await engine.select({
    sql: `SELECT ${WRITER_COLUMNS}, ${EVENT_COLUMNS} FROM events FINAL WHERE ${fleetCondition}
      AND began_at >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')
      AND began_at <= fromUnixTimestamp64Milli({newestMs:Int64}, 'UTC')
      AND toUnixTimestamp64Milli(began_at) BETWEEN ${ofVehicle('fromMs')} AND ${ofVehicle('throughMs')}
      AND (ended_at IS NULL OR toUnixTimestamp64Milli(greatest(fix_time, assumeNotNull(ended_at))) >= ${ofVehicle('untilMs')})
      ORDER BY vehicle_id, began_at, id LIMIT {limit:UInt32} BY vehicle_id`,
    parameters: {
      ...perVehicleParameters(questions, {
        fromMs: (question) => question.fromMs,
        throughMs: (question) => question.throughMs,
        untilMs: (question) => question.untilMs,
      }),
      oldestMs: boundMs(Math.min(...questions.map(({ fromMs }) => fromMs))),
      newestMs: boundMs(Math.max(...questions.map(({ throughMs }) => throughMs))),
      limit: limit + 1,
    },
    limits: PAGE_LIMITS,
    queue: queueOf(questions),
  });
  const byVehicle = Map.groupBy(rows.map(archivedEvent), ({ event }) => event.vehicleId);
  return questions.map(({ vehicleId }) => pageOf(byVehicle.get(vehicleId) ?? [], limit));
}

/** Decodes an event from a row that begins with the {@link WRITER_COLUMNS}. */
function archivedEvent([isRecalculated, number, ...row]: readonly unknown[]): ArchivedEvent {
  const event = fleetEvent(row);
  const removed = (event.phase as string) === 'removed';
  return { event, recalculation: writerOf(isRecalculated, number), removed };
}

function pageOf(found: readonly ArchivedEvent[], limit: number): ArchivedEvents {
  const events = found.slice(0, limit);
  return { events, next: found.length > limit ? cursorAfter(events.map(({ event }) => event)) : null };
}
