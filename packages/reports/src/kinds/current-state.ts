import {
  type EventKind,
  type FleetEvent,
  raisedAlarm,
  VEHICLE_STATES,
  type VehicleActivity,
  type VehicleId,
  type VehicleState,
} from '@outrider/domain';
import { MAX_FLEET } from '@outrider/warehouse';
import { type VehicleCursor, vehicleCursor } from '../cursors.ts';
import { type Column, fleetFrom, type ReportKind, type ReportSources, type Row, seconds } from '../report.ts';

const COLUMNS = [
  { name: 'vehicleId', type: 'id', always: true },
  { name: 'vehicleName', type: 'text', always: true },
  {
    name: 'state',
    type: 'text',
    values: VEHICLE_STATES,
    always: true,
    about:
      '`moving`, `parking` or `idling`; `offline`: no data was received for the time set for the vehicle; `unknown`: no state is known.',
  },
  { name: 'stateSince', type: 'time' },
  { name: 'stateSeconds', type: 'number' },
  { name: 'online', type: 'flag', about: 'False if the vehicle is offline. Null if no data of it was received yet.' },
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
    about: 'Names of the geozones that the vehicle is in and that the caller may see, separated by `|`.',
  },
  { name: 'speeding', type: 'flag', always: true },
  { name: 'alarms', type: 'text', about: 'Active alarms, separated by `|`.' },
  { name: 'lastContactAt', type: 'time', about: 'When the newest packet was received, with or without a usable fix.' },
  { name: 'protocol', type: 'text' },
  {
    name: 'recordTime',
    type: 'time',
    about: 'Time of the last record, to which `ignition`, `fuelL` and `supplyV` refer.',
  },
  {
    name: 'connected',
    type: 'flag',
    always: true,
    about: 'Whether the terminal of the vehicle is connected to the service.',
  },
] as const satisfies readonly Column[];

const STATES: Partial<Record<EventKind, VehicleState>> = { trip: 'moving', parking: 'parking', idling: 'idling' };

/**
 * Where each vehicle is and what it is doing now, as the rules published it with the vehicle's events. Earlier versions
 * did not publish that: for a vehicle without later data, it is derived from the archived events.
 */
export const currentStateReport: ReportKind = {
  name: 'current-state',
  summary: 'Current position and state of vehicles.',
  isNow: true,
  columns: COLUMNS,
  cursor: vehicleCursor,
  async page(sources, { vehicles, nowMs, signal }, after, limit) {
    const { vehicle = null } = (after as VehicleCursor | null) ?? {};
    const { part, following } = fleetFrom(vehicles, vehicle, Math.min(limit, MAX_FLEET));
    const [latest, connections] = await Promise.all([
      sources.latest(part.map(({ id }) => id)),
      sources.connections(part.flatMap(({ terminalId }) => terminalId ?? [])),
    ]);
    const statuses = new Map(latest.map((each) => [each.vehicleId, each]));
    const unknown = part.map(({ id }) => id).filter((id) => !statuses.get(id)?.activity);
    const archived = await archivedActivities(sources, unknown, signal);
    await sources.readDeleted(
      [...archived.values()].flatMap(({ geofenceIds, speeding }) => [...geofenceIds, ...speeding]),
    );
    const rows = part.map(({ id, name, terminalId }): Row => {
      const status = statuses.get(id);
      const activity = status?.activity ?? archived.get(id) ?? null;
      const { position, record } = status ?? { position: null, record: null };
      const geozones = (activity?.geofenceIds ?? []).map(sources.geofenceName).filter((geozone) => geozone !== null);
      const isSpeeding = (activity?.speeding ?? []).some(
        (geofenceId) => geofenceId === null || sources.geofenceName(geofenceId) !== null,
      );
      const sinceMs = activity?.sinceMs ?? null;
      return [
        id,
        name,
        activity?.state ?? 'unknown',
        sinceMs,
        sinceMs === null ? null : seconds(Math.max(0, nowMs - sinceMs)),
        status ? activity?.state !== 'offline' : null,
        position?.fixTimeMs ?? null,
        status?.receivedAtMs ?? null,
        position?.latitude ?? null,
        position?.longitude ?? null,
        position?.speedKmh ?? null,
        position?.courseDeg ?? null,
        activity?.ignition ?? record?.ignition ?? null,
        position?.odometerM ?? null,
        record?.fuelL ?? null,
        record?.supplyV ?? null,
        [...new Set(geozones)].toSorted().join('|') || null,
        isSpeeding,
        [...new Set(activity?.alarms)].toSorted().join('|') || null,
        status?.lastContactAtMs ?? null,
        status?.protocol ?? null,
        record?.fixTimeMs ?? null,
        terminalId !== null && connections.has(terminalId),
      ];
    });
    return { rows, next: following && { vehicle: following } };
  },
};

/** Activities by vehicle, from the events that are open in the archive. */
async function archivedActivities(
  { archive }: ReportSources,
  vehicleIds: readonly VehicleId[],
  signal: AbortSignal,
): Promise<ReadonlyMap<VehicleId, VehicleActivity>> {
  if (vehicleIds.length === 0) return new Map();
  const open = Map.groupBy(await archive.openEvents({ vehicleIds, signal }), (event) => event.vehicleId);
  return new Map([...open].map(([vehicleId, events]) => [vehicleId, activityIn(events)]));
}

function activityIn(events: readonly FleetEvent[]): VehicleActivity {
  const doing = newest(events, ({ kind }) => STATES[kind] !== undefined);
  const silence = newest(events, ({ kind }) => kind === 'offline');
  return {
    state: silence ? 'offline' : ((doing && STATES[doing.kind]) ?? 'unknown'),
    sinceMs: (silence ?? doing)?.startedAtMs ?? null,
    ignition: null,
    alarms: events.flatMap((event) => raisedAlarm(event) ?? []),
    geofenceIds: events.flatMap((event) => (event.kind === 'geofence-visit' ? [event.geofenceId] : [])),
    speeding: events.flatMap((event) => (event.kind === 'speeding' ? [event.geofenceId] : [])),
  };
}

/** The event that began last. An earlier one is over even if its end was never received. */
function newest(events: readonly FleetEvent[], which: (event: FleetEvent) => boolean): FleetEvent | undefined {
  return events.filter(which).toSorted((a, b) => b.startedAtMs - a.startedAtMs)[0];
}
