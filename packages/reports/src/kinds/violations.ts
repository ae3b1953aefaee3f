import { ALARMS, type EventKind, eventKindsWhere, type FleetEvent, geofenceOf, type VehicleId } from '@outrider/domain';
import { LIST_FLEET } from '@outrider/warehouse';
import { calendarOf, placeOf } from '../calendar.ts';
import { type ShapeCursor, shapeCursor } from '../cursors.ts';
import { eventsOf } from '../fleet-events.ts';
import { lastingUntil } from '../known.ts';
import { withPlaces } from '../places.ts';
import { fleetFrom, type Page, type Question, type ReportSources, type Row, seconds } from '../report.ts';
import { PERIOD_START } from '../totals.ts';
import { isIncluded, PLACES, places, shownAlarm } from './event-lists.ts';

export const VIOLATIONS: readonly EventKind[] = eventKindsWhere(({ isUnwanted }) => isUnwanted === true);

/** All violations of one kind (for alarms and harsh driving, of one type) by a vehicle that began in one period. */
interface Bundle {
  place: number;
  event: FleetEvent;
  count: number;
  durationMs: number;
  longestMs: number;
  peakKmh: number | null;
  overLimitKmh: number | null;
  /** Severity of the worst one: how far it exceeded the limit, else its duration. */
  worst: number;
}

/** Violations by vehicle and day, with the worst of each kind. */
export const violationsReport = withPlaces({
  name: 'violations',
  summary: 'Violations, alarms and other unwanted events by vehicle and period, with the worst of each kind.',
  description:
    'A row for each vehicle, period and kind of event; alarms and harsh driving have a row for each alarm or manoeuvre. A violation counts in the period in which it began, with its whole duration within the time range. `startedAt` and the places are those of the worst event: for speeding, the one that exceeded its limit the most; for other kinds, the longest one.',
  parameters: { period: 'day' },
  columns: [
    { name: 'vehicleId', type: 'id', always: true },
    { name: 'vehicleName', type: 'text', always: true },
    PERIOD_START,
    { name: 'kind', type: 'text', values: VIOLATIONS, always: true, about: 'Kind of the events.' },
    { name: 'alarm', type: 'text', values: ALARMS, about: 'The alarm; only for `alarm` and `harsh-driving`.' },
    { name: 'count', type: 'whole', always: true, total: 'sum' },
    { name: 'durationSeconds', type: 'number', always: true, total: 'sum' },
    { name: 'longestSeconds', type: 'number', always: true, total: 'max' },
    { name: 'peakKmh', type: 'number', total: 'max', about: 'Highest speed, in km/h; only for `speeding`.' },
    {
      name: 'overLimitKmh',
      type: 'number',
      total: 'max',
      about: 'Highest speed above the limit, in km/h; only for `speeding`.',
    },
    { name: 'startedAt', type: 'time', always: true, about: 'Start of the worst event.' },
    ...PLACES,
  ],
  charts: [
    { shape: 'bars', measure: 'count', by: 'kind' },
    { shape: 'bars', measure: 'count', by: 'vehicle' },
  ],
  cursor: shapeCursor,
  async page(sources, question, after, limit): Promise<Page> {
    const { vehicle = null, returned = 0 } = (after as ShapeCursor | null) ?? {};
    const { part, following } = fleetFrom(question.vehicles, vehicle, Math.min(LIST_FLEET, limit));
    const bundles = await bundlesOf(
      sources,
      question,
      part.map(({ id }) => id),
    );
    const { days } = calendarOf(question.fromMs, question.toMs, question.timeZone, question.period);
    const rows: Row[] = [];
    for (const { id, name } of part) {
      const all = (bundles.get(id) ?? []).toSorted(
        (a, b) => a.place - b.place || (keyOf(a.event) < keyOf(b.event) ? -1 : 1),
      );
      const from = id === vehicle ? returned : 0;
      for (const [nth, bundle] of all.slice(from).entries()) {
        if (rows.length === limit) return { rows, next: { vehicle: id, returned: from + nth } satisfies ShapeCursor };
        rows.push([id, name, days[bundle.place] ?? '', ...valuesOf(bundle)]);
      }
    }
    return { rows, next: following && ({ vehicle: following, returned: 0 } satisfies ShapeCursor) };
  },
});

function valuesOf({ event, count, durationMs, longestMs, peakKmh, overLimitKmh }: Bundle): Row {
  return [
    event.kind,
    shownAlarm(event),
    count,
    seconds(durationMs),
    seconds(longestMs),
    peakKmh,
    overLimitKmh === null ? null : Math.round(overLimitKmh * 10) / 10,
    event.startedAtMs,
    ...places(event),
  ];
}

const keyOf = (event: FleetEvent) => `${event.kind} ${shownAlarm(event) ?? ''}`;

async function bundlesOf(
  sources: ReportSources,
  question: Question,
  vehicleIds: readonly VehicleId[],
): Promise<Map<VehicleId, Bundle[]>> {
  const { fromMs, toMs, timeZone, period, signal } = question;
  if (vehicleIds.length === 0) return new Map();
  const { cuts } = calendarOf(fromMs, toMs, timeZone, period);
  const found = new Map<VehicleId, Map<string, Bundle>>();
  for await (const events of eventsOf(sources.archive, vehicleIds, { kinds: VIOLATIONS, fromMs, toMs, signal })) {
    await sources.readDeleted(events.map(geofenceOf));
    const untilOf = await lastingUntil(sources, events, question);
    for (const event of events) {
      const geofenceId = geofenceOf(event);
      if (geofenceId !== null && !isIncluded(geofenceId, sources, question)) continue;
      const place = placeOf(cuts, event.startedAtMs);
      const ofVehicle = found.get(event.vehicleId) ?? new Map<string, Bundle>();
      found.set(event.vehicleId, ofVehicle);
      const key = `${place} ${keyOf(event)}`;
      const endMs = Math.min(toMs, event.endedAtMs ?? untilOf(event));
      ofVehicle.set(
        key,
        added(ofVehicle.get(key), event, place, Math.max(0, endMs - Math.max(fromMs, event.startedAtMs))),
      );
    }
  }
  return new Map([...found].map(([id, bundles]) => [id, [...bundles.values()]]));
}

function added(known: Bundle | undefined, event: FleetEvent, place: number, durationMs: number): Bundle {
  const isSpeeding = event.kind === 'speeding';
  const overLimitKmh = isSpeeding ? event.peakKmh - event.limitKmh : null;
  const worst = overLimitKmh ?? durationMs;
  const one: Bundle = {
    ...{ place, event, count: 1, durationMs, longestMs: durationMs, overLimitKmh, worst },
    peakKmh: isSpeeding ? event.peakKmh : null,
  };
  if (known === undefined) return one;
  const most = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b));
  return {
    place,
    event: worst > known.worst ? event : known.event,
    count: known.count + 1,
    durationMs: known.durationMs + durationMs,
    longestMs: Math.max(known.longestMs, durationMs),
    peakKmh: most(known.peakKmh, one.peakKmh),
    overLimitKmh: most(known.overLimitKmh, overLimitKmh),
    worst: Math.max(known.worst, worst),
  };
}
