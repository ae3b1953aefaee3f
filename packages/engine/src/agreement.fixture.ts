import { type EventId, type FleetEvent, raisedAlarm, type VehicleId, type VehicleStatus } from '@outrider/domain';
import { expect } from 'vitest';

/**
 * Holds the statuses of vehicles against the events published before them: a client that has the events must not read
 * anything else from the status.
 */
export function agreement() {
  const open = new Map<EventId, FleetEvent>();
  const newest = new Map<VehicleId, number>();

  function check(status: VehicleStatus): void {
    const { vehicleId, activity, position, record, asOfMs, lastContactAtMs } = status;
    expect(asOfMs).toBeGreaterThanOrEqual(newest.get(vehicleId) ?? 0);
    newest.set(vehicleId, asOfMs);
    expect(asOfMs).toBeGreaterThanOrEqual(lastContactAtMs);
    if (activity === null || position === null) return;
    const events = [...open.values()].filter((event) => event.vehicleId === vehicleId);
    const ofKind = (kind: FleetEvent['kind']) => events.filter((event) => event.kind === kind);

    expect(activity.state === 'offline').toBe(ofKind('offline').length > 0);
    if (activity.state !== 'offline') {
      for (const kind of ['parking', 'idling'] as const)
        if (ofKind(kind).length > 0)
          expect([activity.state, activity.sinceMs]).toEqual([kind, ofKind(kind)[0]?.startedAtMs]);
      if (activity.state === 'moving')
        expect(ofKind('trip').map(({ startedAtMs }) => startedAtMs)).toEqual([activity.sinceMs]);
      // Without a fix since, the ignition decides.
      if (activity.state === 'moving' && record.fixTimeMs > position.fixTimeMs)
        expect(activity.ignition).not.toBe(false);
    }
    if (ofKind('ignition').length > 0) expect(activity.ignition).toBe(true);
    const raised = events.flatMap((event) => raisedAlarm(event) ?? []);
    expect(activity.alarms.toSorted()).toEqual(raised.toSorted());
    const exceeded = events.flatMap((event) => (event.kind === 'sensor-threshold' ? [event.thresholdId] : []));
    expect((status.sensors ?? []).flatMap((sensor) => sensor.exceeded).toSorted()).toEqual(exceeded.toSorted());
    const changes = events.filter(({ kind }) => kind === 'refuelling' || kind === 'fuel-drain');
    if (status.tank !== undefined) expect(status.tank.change).toBe(changes.at(-1)?.kind);
    const speeding = events.flatMap((event) => (event.kind === 'speeding' ? [event.geofenceId] : []));
    expect(activity.speeding.toSorted()).toEqual(speeding.toSorted());
    expect(activity.driverCode).toBe(events.find((event) => event.kind === 'driver-shift')?.driverCode);
    // It may be in one that it was found in, of which there is no event.
    for (const event of events)
      if (event.kind === 'geofence-visit') expect(activity.geofenceIds).toContain(event.geofenceId);
  }

  return {
    publish(events: readonly FleetEvent[]): void {
      for (const event of events)
        if (event.phase === 'begin') open.set(event.id, event);
        else open.delete(event.id);
    },
    /** The vehicle was deleted, and its status with it: one that is defined under its id later begins anew. */
    forget(vehicleId: VehicleId): void {
      newest.delete(vehicleId);
    },
    check(statuses: Iterable<VehicleStatus>): void {
      for (const status of statuses) check(status);
    },
  };
}
