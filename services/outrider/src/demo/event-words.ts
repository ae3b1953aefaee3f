import type { EventKind, GeofenceId, VehicleId } from '@outrider/domain';

/** Names by id, for printing events. */
export interface Names {
  vehicles: Map<VehicleId, string>;
  geofences: Map<GeofenceId, string>;
}

/** What the demo reads of an event of the live API. */
export interface LiveMessage {
  type: string;
  kind: EventKind;
  phase: 'begin' | 'end';
  vehicleId: VehicleId;
  geofenceId?: GeofenceId | null;
  startedAt: string;
  endedAt: string | null;
  speedKmh: number | null;
  limitKmh?: number;
  peakKmh?: number;
  distanceM?: number;
  alarm?: string;
  planName?: string;
  stage?: 'warning' | 'due';
  volumeL?: number;
  driverCode?: string;
  sensorName?: string;
  value?: number;
  unit?: string;
}

/** `12:00:07  Van 3 AB 123    entered     Depot`. */
export function inWords(event: LiveMessage, { vehicles, geofences }: Names): string {
  const time = (event.endedAt ?? event.startedAt).slice(11, 19);
  const vehicle = (vehicles.get(event.vehicleId) ?? event.vehicleId).padEnd(24);
  const { geofenceId } = event;
  const place = geofenceId ? (geofences.get(geofenceId) ?? geofenceId) : '';
  const begins = event.phase === 'begin';
  const [what, how] = wordsOf(event, begins, place);
  const seconds = Math.round((Date.parse(event.endedAt ?? event.startedAt) - Date.parse(event.startedAt)) / 1000);
  const details = [how, begins ? '' : `after ${seconds} s`].filter((detail) => detail !== '').join(', ');
  return `${time}  ${vehicle}  ${what.padEnd(11)} ${details}`.trimEnd();
}

function wordsOf(event: LiveMessage, begins: boolean, place: string): [what: string, how: string] {
  switch (event.kind) {
    case 'geofence-visit':
      return [begins ? 'entered' : 'left', place];
    case 'speeding': {
      const speed = begins
        ? `${Math.round(event.speedKmh ?? event.peakKmh ?? 0)} km/h`
        : `peak ${Math.round(event.peakKmh ?? 0)} km/h`;
      return [begins ? 'speeding' : 'slowed', `${speed}, limit ${event.limitKmh}${place === '' ? '' : ` in ${place}`}`];
    }
    case 'trip':
      return begins ? ['set out', ''] : ['arrived', `${((event.distanceM ?? 0) / 1000).toFixed(1)} km`];
    case 'parking':
      return [begins ? 'parked' : 'drove on', ''];
    case 'idling':
      return [begins ? 'idling' : 'idled', ''];
    case 'ignition':
      return [begins ? 'switched on' : 'switched off', ''];
    case 'alarm':
      return [begins ? 'alarm' : 'alarm over', event.alarm ?? ''];
    case 'power-cut':
      return [begins ? 'power lost' : 'power back', ''];
    case 'driver-shift':
      return [begins ? 'driver on' : 'driver off', event.driverCode ?? ''];
    case 'offline':
      return [begins ? 'offline' : 'online', ''];
    case 'refuelling':
      return [begins ? 'refuelling' : 'refuelled', litres(event.volumeL)];
    case 'fuel-drain':
      return [begins ? 'fuel drain' : 'drained', litres(event.volumeL)];
    case 'maintenance-due':
      return [begins ? (event.stage === 'due' ? 'service due' : 'service near') : 'service over', event.planName ?? ''];
    case 'sensor-threshold':
      return [
        begins ? 'beyond' : 'back within',
        `${event.sensorName ?? ''} ${event.value?.toFixed(1) ?? ''} ${event.unit ?? ''}`,
      ];
  }
}

function litres(volumeL: number | undefined): string {
  return volumeL === undefined ? '' : `${Math.round(volumeL)} l`;
}
