import { type EventKind, type FleetEvent, geofenceOf } from '@outrider/domain';
import { MAX_FLEET } from '@outrider/warehouse';
import { type VehicleCursor, vehicleCursor } from './cursors.ts';
import { type Column, fleetFrom, type ReportKind, type Row, seconds } from './report.ts';

const COLUMNS = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
  { name: 'state', type: 'text', always: true, about: '`moving`: on a trip; `parking`, `idling`; `unknown`.' },
  { name: 'stateSince', type: 'time' },
  { name: 'stateSeconds', type: 'number' },
  { name: 'online', type: 'flag', about: 'Null where nothing was heard of it yet.' },
  { name: 'fixTime', type: 'time' },
  { name: 'receivedAt', type: 'time' },
  { name: 'latitude', type: 'number' },
  { name: 'longitude', type: 'number' },
  { name: 'speedKmh', type: 'number' },
  { name: 'courseDeg', type: 'whole' },
  { name: 'ignition', type: 'flag' },
  { name: 'odometerM', type: 'whole' },
  { name: 'fuelL', type: 'number' },
  { name: 'supplyV', type: 'number' },
  {
    name: 'geozones',
    type: 'text',
    about: 'Names of those that it is in, parted by `|`, of those that the caller may see.',
  },
  { name: 'speeding', type: 'flag', always: true },
  { name: 'alarms', type: 'text', about: 'Those that are raised, parted by `|`.' },
] as const satisfies readonly Column[];

const STATES: Partial<Record<EventKind, string>> = { trip: 'moving', parking: 'parking', idling: 'idling' };

/** Where each vehicle is and what it is doing, now. */
export const currentStateReport: ReportKind = {
  name: 'current-state',
  columns: COLUMNS,
  cursor: vehicleCursor,
  async page(sources, { vehicles, nowMs, signal }, after, limit) {
    const { vehicle = null } = (after as VehicleCursor | null) ?? {};
    const { part, following } = fleetFrom(vehicles, vehicle, Math.min(limit, MAX_FLEET));
    const vehicleIds = part.map(({ id }) => id);
    const [latest, open] = await Promise.all([
      sources.latest(vehicleIds),
      sources.archive.openEvents({ vehicleIds, signal }),
    ]);
    await sources.readDeleted(open.map(geofenceOf));
    const latestOf = new Map(latest.map((each) => [each.vehicleId, each]));
    const openOf = Map.groupBy(open, (event) => event.vehicleId);
    const rows = part.map(({ id, name }): Row => {
      const position = latestOf.get(id)?.position;
      const events = openOf.get(id) ?? [];
      const state = newest(events, (event) => STATES[event.kind] !== undefined);
      const offline = events.some(({ kind }) => kind === 'offline');
      const geozones = events
        .flatMap((event) => (event.kind === 'geofence-visit' ? [sources.geofenceName(event.geofenceId)] : []))
        .filter((geozone) => geozone !== null);
      const isSpeeding = events.some(
        (event) =>
          event.kind === 'speeding' && (event.geofenceId === null || sources.geofenceName(event.geofenceId) !== null),
      );
      const alarms = events.flatMap((event) => (event.kind === 'alarm' ? [event.alarm] : []));
      return [
        id,
        name,
        state ? (STATES[state.kind] ?? 'unknown') : 'unknown',
        state?.startedAtMs ?? null,
        state ? seconds(Math.max(0, nowMs - state.startedAtMs)) : null,
        position ? !offline : null,
        position?.fixTimeMs ?? null,
        latestOf.get(id)?.receivedAtMs ?? null,
        position?.latitude ?? null,
        position?.longitude ?? null,
        position?.speedKmh ?? null,
        position?.courseDeg ?? null,
        position?.ignition ?? null,
        position?.odometerM ?? null,
        position?.fuelL ?? null,
        position?.supplyV ?? null,
        [...new Set(geozones)].toSorted().join('|') || null,
        isSpeeding,
        [...new Set(alarms)].toSorted().join('|') || null,
      ];
    });
    return { rows, next: following && { vehicle: following } };
  },
};

/** What began last: should the end of an earlier one never have come, it is over all the same. */
function newest(events: readonly FleetEvent[], which: (event: FleetEvent) => boolean): FleetEvent | undefined {
  return events.filter(which).toSorted((a, b) => b.startedAtMs - a.startedAtMs)[0];
}
