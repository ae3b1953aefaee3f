import {
  ALARMS,
  type Alarm,
  END_REASONS,
  EVENT_KINDS,
  type EventKind,
  type FleetEvent,
  type GeofenceId,
  geofenceOf,
  raisedAlarm,
  type Trip,
} from '@outrider/domain';
import { LIST_FLEET } from '@outrider/warehouse';
import { type EventsCursor, eventsCursor } from '../cursors.ts';
import { knownOfOpen, type OpenTotals, totalsOfOpenTrips } from '../known.ts';
import { withPlaces } from '../places.ts';
import {
  type Column,
  fleetFrom,
  isOfDrivers,
  type Question,
  type ReportAbout,
  type ReportKind,
  type ReportSources,
  type Row,
  seconds,
  tenths,
} from '../report.ts';

const VEHICLE = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
] as const satisfies readonly Column[];
export const LASTED = [
  { name: 'startedAt', type: 'time', always: true },
  { name: 'endedAt', type: 'time', about: 'Null while the event is in progress.' },
  {
    name: 'durationSeconds',
    type: 'number',
    always: true,
    total: 'sum',
    about:
      'Duration in seconds. While the event is in progress, it counts up to the last record of the vehicle, or for `offline` up to now.',
  },
] as const satisfies readonly Column[];
/** The driver, assigned by hand or by the code from the terminal. */
export const DRIVER = [
  { name: 'driverId', type: 'id' },
  {
    name: 'driverName',
    type: 'text',
    about: 'Driver at the start: the one assigned by hand, otherwise the one whose code the terminal sent.',
  },
  { name: 'driverCode', type: 'text', isRare: true },
] as const satisfies readonly Column[];
export const PLACE = [
  {
    name: 'latitude',
    type: 'number',
    always: true,
    about: 'Where the event ended. While it is in progress, where it began.',
  },
  { name: 'longitude', type: 'number', always: true },
] as const satisfies readonly Column[];
/** Start and end position of an event, besides the position of its latest phase. */
export const PLACES = [
  {
    name: 'startLatitude',
    type: 'number',
    about: 'Where the event began. Null for old events, for which this was not recorded.',
  },
  { name: 'startLongitude', type: 'number' },
  { name: 'endLatitude', type: 'number', about: 'Where the event ended. Null while it is in progress.' },
  { name: 'endLongitude', type: 'number' },
] as const satisfies readonly Column[];
export const END_REASON = {
  name: 'endReason',
  type: 'text',
  values: END_REASONS,
  about: 'Why the event ended. Null while it is in progress.',
} as const satisfies Column;

/** Input for the rows. */
export interface Naming {
  vehicleName: string;
  geofenceName: string | null;
  /** Unix milliseconds until which the event lasts if it has not ended. */
  untilMs: number;
  /** Totals of a trip in progress; null when they are unknown. */
  openTrip: OpenTotals | null;
}

/**
 * A report with a row for each event of some kinds that overlaps the time range, with the event's own start and end.
 *
 * @param rowOf returns null for an event that the report leaves out
 */
export function eventList(
  about: ReportAbout,
  kinds: (question: Question) => readonly EventKind[],
  columns: readonly Column[],
  rowOf: (event: FleetEvent, naming: Naming) => Row | null,
): ReportKind {
  return withPlaces({
    ...about,
    parameters: { ...about.parameters, driverIds: true },
    columns: [...VEHICLE, ...columns, ...DRIVER],
    cursor: eventsCursor,
    async page(sources, question, after, limit) {
      const { fleet = null, after: last = null } = (after as EventsCursor | null) ?? {};
      const { part, following } = fleetFrom(question.vehicles, fleet, LIST_FLEET);
      const [first] = part;
      if (first === undefined) return { rows: [], next: null };
      const page = await sources.archive.overlappingEvents({
        vehicleIds: part.map(({ id }) => id),
        kinds: kinds(question),
        fromMs: question.fromMs,
        toMs: question.toMs,
        limit,
        after: last,
        signal: question.signal,
      });
      await sources.readDeleted(page.events.map(geofenceOf));
      const knownOfEvent = await knownOfOpen(sources, page.events, question);
      const openTrips = await totalsOfOpenTrips(sources, page.events, knownOfEvent, question);
      const names = new Map(part.map(({ id, name: vehicleName }) => [id, vehicleName]));
      const drivers = await sources.driversAt(
        page.events.map(({ vehicleId, startedAtMs, driverCode = null }) => ({
          vehicleId,
          atMs: startedAtMs,
          code: driverCode,
        })),
      );
      const rows: Row[] = [];
      for (const [nth, event] of page.events.entries()) {
        const geofenceId = geofenceOf(event);
        if (geofenceId !== null && !isIncluded(geofenceId, sources, question)) continue;
        const vehicleName = names.get(event.vehicleId) ?? '';
        const geofenceName = geofenceId && sources.geofenceName(geofenceId);
        const driver = drivers[nth] ?? null;
        if (!isOfDrivers(question, driver)) continue;
        const known = knownOfEvent(event);
        const untilMs = event.kind === 'offline' ? question.nowMs : known.untilMs;
        const openTrip = openTrips.get(event.id) ?? null;
        const row = rowOf(event, { vehicleName, geofenceName, untilMs, openTrip });
        const named = [driver?.id ?? null, driver?.name ?? null, event.driverCode ?? null];
        if (row !== null) rows.push([event.vehicleId, vehicleName, ...row, ...named]);
      }
      const next: EventsCursor | null = page.next
        ? { fleet: first.id, after: page.next }
        : following && { fleet: following, after: null };
      return { rows, next };
    },
  });
}

/** Value of column `alarm` for an event. A power cut has none, because its kind says so. */
export function shownAlarm(event: FleetEvent): Alarm | null {
  return event.kind === 'power-cut' ? null : raisedAlarm(event);
}

/** Whether the report includes rows about this geofence. */
export function isIncluded(
  id: GeofenceId,
  sources: ReportSources,
  { geofenceId }: Pick<Question, 'geofenceId'>,
): boolean {
  if (geofenceId !== null && id !== geofenceId) return false;
  return sources.geofenceName(id) !== null || sources.seesGone(id);
}

/** Start, end and length of an event. */
export function lasted({ startedAtMs, endedAtMs }: FleetEvent, untilMs: number): Row {
  return [startedAtMs, endedAtMs, seconds(Math.max(0, (endedAtMs ?? untilMs) - startedAtMs))];
}

/** The values of {@link PLACES}. */
export function places({ phase, latitude, longitude, startLatitude, startLongitude }: FleetEvent): Row {
  if (phase === 'begin') return [startLatitude ?? latitude, startLongitude ?? longitude, null, null];
  return [startLatitude ?? null, startLongitude ?? null, latitude, longitude];
}

/** Totals of a trip: those at its end, or while it lasts, those of the mileage report. */
interface TripTotals extends OpenTotals {
  meanKmh: number | null;
}

/** Null for a trip in progress of which nothing is known. */
function tripTotals(trip: Trip, { untilMs, openTrip }: Pick<Naming, 'untilMs' | 'openTrip'>): TripTotals | null {
  if (trip.phase === 'end') return trip;
  if (openTrip === null) return null;
  const hours = (untilMs - trip.startedAtMs) / 3_600_000;
  return { ...openTrip, meanKmh: hours > 0 ? openTrip.distanceM / 1000 / hours : null };
}

export const tripsReport = eventList(
  {
    name: 'trips',
    summary: 'Trips that overlap a time range.',
    description: 'Each trip has its own start and end, even outside the time range.',
  },
  () => ['trip'],
  [
    ...LASTED,
    { name: 'startLatitude', type: 'number', always: true },
    { name: 'startLongitude', type: 'number', always: true },
    { name: 'endLatitude', type: 'number', about: 'Null while the trip is in progress.' },
    { name: 'endLongitude', type: 'number', about: 'Null while the trip is in progress.' },
    {
      name: 'distanceM',
      type: 'number',
      total: 'sum',
      about:
        'Distance of the trip. While it is in progress, this and the other totals count up to the last record of the vehicle, as in report `mileage`. Null if nothing is known of the trip.',
    },
    { name: 'movingSeconds', type: 'number', total: 'sum' },
    { name: 'idlingSeconds', type: 'number', total: 'sum' },
    { name: 'maxKmh', type: 'number', total: 'max' },
    { name: 'meanKmh', type: 'number' },
    {
      name: 'fuelUsedL',
      type: 'number',
      total: 'sum',
      about: 'Fuel used, in litres. Null while the trip is in progress, or if it is not known.',
    },
    END_REASON,
  ],
  (event, naming) => {
    if (event.kind !== 'trip') return null;
    const over = event.phase === 'end';
    const totals = tripTotals(event, naming);
    return [
      ...lasted(event, naming.untilMs),
      event.startLatitude,
      event.startLongitude,
      over ? event.latitude : null,
      over ? event.longitude : null,
      totals?.distanceM ?? null,
      totals && seconds(totals.movingMs),
      totals?.idlingMs == null ? null : seconds(totals.idlingMs),
      totals?.maxKmh ?? null,
      totals?.meanKmh ?? null,
      over && event.fuelUsedL !== undefined ? tenths(event.fuelUsedL) : null,
      event.endReason,
    ];
  },
);

export const stopsReport = eventList(
  { name: 'stops', summary: 'Stops that overlap a time range, parked or idling.' },
  () => ['parking', 'idling'],
  [
    {
      name: 'kind',
      type: 'text',
      values: ['parking', 'idling'],
      always: true,
      about: '`parking`: the ignition was off. `idling`: the ignition was on.',
    },
    ...LASTED,
    ...PLACE,
    {
      name: 'idlingSeconds',
      type: 'number',
      always: true,
      total: 'sum',
      about: 'Time with the ignition on during the stop, in seconds.',
    },
    END_REASON,
    ...PLACES,
  ],
  (event, { untilMs }) =>
    event.kind === 'parking' || event.kind === 'idling'
      ? [
          event.kind,
          ...lasted(event, untilMs),
          event.latitude,
          event.longitude,
          seconds(event.idlingMs),
          event.endReason,
          ...places(event),
        ]
      : null,
);

export const speedingReport = eventList(
  { name: 'speeding', summary: 'Intervals in which vehicles exceeded a speed limit.' },
  () => ['speeding'],
  [
    ...LASTED,
    ...PLACE,
    { name: 'limitKmh', type: 'number', always: true },
    { name: 'limitSource', type: 'text', values: ['vehicle', 'geofence'], always: true },
    { name: 'geozoneId', type: 'id' },
    { name: 'geozoneName', type: 'text' },
    { name: 'peakKmh', type: 'number', always: true, total: 'max' },
    { name: 'meanKmh', type: 'number', always: true },
    { name: 'distanceM', type: 'number', always: true, total: 'sum' },
    END_REASON,
    ...PLACES,
  ],
  (event, { untilMs, geofenceName }) =>
    event.kind === 'speeding'
      ? [
          ...lasted(event, untilMs),
          event.latitude,
          event.longitude,
          event.limitKmh,
          event.limitSource,
          event.geofenceId,
          geofenceName,
          event.peakKmh,
          event.meanKmh,
          event.distanceM,
          event.endReason,
          ...places(event),
        ]
      : null,
);

export const eventsReport = eventList(
  {
    name: 'events',
    summary: 'All events that overlap a time range, ordered by vehicle and time.',
    parameters: { eventKinds: true },
  },
  ({ eventKinds }) => EVENT_KINDS.filter((kind) => eventKinds === null || eventKinds.includes(kind)),
  [
    { name: 'id', type: 'id', always: true },
    { name: 'kind', type: 'text', values: EVENT_KINDS, always: true },
    {
      name: 'phase',
      type: 'text',
      values: ['begin', 'end'],
      always: true,
      about: '`begin` while the event is in progress.',
    },
    ...LASTED,
    ...PLACE,
    { name: 'speedKmh', type: 'number' },
    { name: 'geozoneId', type: 'id' },
    { name: 'geozoneName', type: 'text' },
    { name: 'alarm', type: 'text', values: ALARMS, about: 'The alarm; only for `alarm` and `harsh-driving`.' },
    { name: 'planName', type: 'text', about: 'Name of the maintenance plan; only for `maintenance-due`.' },
    { name: 'volumeL', type: 'number', about: 'Litres added or removed; only for `refuelling` and `fuel-drain`.' },
    { name: 'sensorName', type: 'text', about: 'Name of the sensor; only for `sensor-threshold`.' },
    {
      name: 'value',
      type: 'number',
      about: 'Value of the sensor farthest beyond the threshold; only for `sensor-threshold`.',
    },
    { name: 'limitKmh', type: 'number' },
    { name: 'peakKmh', type: 'number', total: 'max' },
    { name: 'meanKmh', type: 'number' },
    { name: 'distanceM', type: 'number', total: 'sum' },
    { name: 'inferred', type: 'flag', always: true },
    { name: 'origin', type: 'text', values: ['live', 'recalculated'], always: true },
    END_REASON,
    ...PLACES,
  ],
  (event, naming) => {
    const { untilMs, geofenceName } = naming;
    const trip = event.kind === 'trip' ? tripTotals(event, naming) : null;
    return [
      event.id,
      event.kind,
      event.phase,
      ...lasted(event, untilMs),
      event.latitude,
      event.longitude,
      event.speedKmh,
      geofenceOf(event),
      geofenceName,
      shownAlarm(event),
      event.kind === 'maintenance-due' ? event.planName : null,
      event.kind === 'refuelling' || event.kind === 'fuel-drain' ? event.volumeL : null,
      event.kind === 'sensor-threshold' ? event.sensorName : null,
      event.kind === 'sensor-threshold' ? event.peakValue : null,
      event.kind === 'speeding' ? event.limitKmh : null,
      event.kind === 'speeding' ? event.peakKmh : (trip?.maxKmh ?? null),
      event.kind === 'speeding' ? event.meanKmh : (trip?.meanKmh ?? null),
      event.kind === 'speeding' ? event.distanceM : (trip?.distanceM ?? null),
      event.inferred,
      event.origin,
      event.endReason,
      ...places(event),
    ];
  },
);
