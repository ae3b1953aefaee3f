import {
  deriveEventId,
  type EventId,
  type FleetEvent,
  type FuelChange,
  type Position,
  type Vehicle,
  type VehicleStatus,
} from '@outrider/domain';
import { type CompiledSensor, type VehicleSensors, vehicleSensors } from '../sensors/index.ts';
import type { VehicleState } from '../vehicle-state.ts';
import { type FuelFinding, findingOf, STANDS_KMH, takeFuel } from './detector.ts';
import { type FuelMark, type FuelState, freshFuelState } from './fuel-state.ts';
import { median } from './level.ts';
import { type Tank, tankOf, UL_PER_L } from './tank.ts';

/** A smoothed level lags behind by some minutes. */
const LEVEL_LAGS_MS = 600_000;

/** How the fuel of a vehicle is measured, by its definition. */
export interface FuelGauge {
  /** Null: refuellings and drains are not detected. */
  tank: Tank | null;
  sensors: VehicleSensors;
  /** Counters of fuel used by the engine. */
  counters: readonly CompiledSensor[];
  /** Changes whenever the meaning of the tank's levels changes. */
  levelSource: string;
}

/** Null for a vehicle without a tank and without a counter, which is then skipped at no cost. */
export function fuelGaugeOf(definition: Vehicle | null): FuelGauge | null {
  if (definition === null) return null;
  const { tankCapacityL, sensors: all } = definition;
  const counting = all.some(({ kind }) => kind === 'fuel-used');
  if (tankCapacityL === null && !counting) return null;
  const sensors = vehicleSensors(all);
  return {
    tank: tankCapacityL === null ? null : tankOf({ ...definition, tankCapacityL }),
    sensors,
    counters: counting ? sensors.all.filter((sensor) => sensor.definition.kind === 'fuel-used') : [],
    levelSource: JSON.stringify(all.filter(({ kind }) => kind === 'fuel-level')),
  };
}

/**
 * Evaluates the fuel data of a record, and publishes the resulting events.
 *
 * @param distanceM since the last good fix; null for a record without a good place
 * @param at assumed place of the vehicle
 */
export function measureFuel(
  vehicle: VehicleState,
  gauge: FuelGauge,
  record: Position,
  distanceM: number | null,
  at: { latitude: number; longitude: number },
  events: FleetEvent[],
): void {
  vehicle.fuel ??= freshFuelState();
  const state = vehicle.fuel;
  const { fixTimeMs: atMs, ignition } = record;
  // A late record: a recalculation processes it in order.
  if (atMs < state.atMs) return;
  let usedL = 0;
  for (const counter of gauge.counters) usedL += counter.valueOf(record);
  if (gauge.counters.length > 0 && Number.isFinite(usedL)) state.usedL = usedL;
  if (gauge.tank === null) {
    state.atMs = atMs;
    return;
  }
  const stoodBefore = state.stillSinceMs !== null;
  const carriedKmh = stoodBefore ? 0 : STANDS_KMH + 1;
  const findings: FuelFinding[] = [];
  takeFuel(
    state,
    gauge.tank,
    {
      atMs,
      levelL: gauge.sensors.levelL(record),
      ignition,
      speedKmh: distanceM === null ? carriedKmh : record.speedKmh,
      distanceM: distanceM ?? 0,
      latitude: at.latitude,
      longitude: at.longitude,
    },
    findings,
  );
  const version = vehicle.definition?.version ?? 0;
  for (const finding of findings) {
    events.push(changeEvent(vehicle, finding, version, atMs, 'settled'));
    if (finding.endedAtMs === null) continue;
    for (const mark of [state.trip, state.stop]) if (mark !== null) settleMark(mark, finding);
  }
}

/** Ends a change in progress because the vehicle is no longer defined, or its levels change their meaning. */
export function endFuelByDefinition(vehicle: VehicleState, version: number, events: FleetEvent[]): void {
  const { fuel } = vehicle;
  if (fuel === null) return;
  const { change } = fuel;
  if (change !== null) {
    const finding = findingOf(change, change.farthest, change.farthest.atMs);
    events.push(changeEvent(vehicle, finding, version, change.farthest.atMs, 'no-longer-watched'));
  }
  vehicle.fuel = null;
}

/** Adjusts a mark after a change ended that began since the mark, or was still in progress or lagging at the mark. */
function settleMark(mark: FuelMark, { kind, startedAtMs, volumeL, after }: FuelFinding): void {
  if (startedAtMs >= mark.atMs) mark.addedL += kind === 'refuelling' ? volumeL : -volumeL;
  else if (after.atMs >= mark.atMs - LEVEL_LAGS_MS)
    mark.levelL = (after.levelUl + after.burntUl - mark.burntUl) / UL_PER_L;
}

/** Fuel data when a trip or a stop begins or ends. */
export function markFuel({ fuel }: VehicleState, sinceMs: number): FuelMark | null {
  if (fuel === null) return null;
  const { usedL, burntUl } = fuel;
  return { levelL: levelBeforeL(fuel, sinceMs), usedL, atMs: sinceMs, burntUl, addedL: 0 };
}

/**
 * Fuel fields of an event between two marks. Consumption follows from the engine's counter; without one, from the
 * levels of the tank.
 */
export function fuelBetween(start: FuelMark | null, end: FuelMark | null) {
  const usedL = usedBetween(start, end);
  return {
    ...(start?.levelL != null && { fuelStartL: start.levelL }),
    ...(end?.levelL != null && { fuelEndL: end.levelL }),
    ...(usedL !== null && { fuelUsedL: usedL }),
  };
}

function usedBetween(start: FuelMark | null, end: FuelMark | null): number | null {
  if (start === null || end === null) return null;
  // A counter that was reset is ignored.
  if (start.usedL !== null && end.usedL !== null && end.usedL >= start.usedL) return end.usedL - start.usedL;
  if (start.levelL === null || end.levelL === null) return null;
  return Math.max(0, start.levelL + start.addedL - end.levelL);
}

/** The level of the tank, without changes that may have begun since a moment: they belong to another event. */
function levelBeforeL(state: FuelState, sinceMs: number): number | null {
  const { change, suspected, level, highs, lows } = state;
  if (level === null) return null;
  let before = level;
  if (change !== null && change.startedAtMs >= sinceMs) before = change.before;
  else if (suspected !== null && suspected.sinceMs >= sinceMs)
    before = (suspected.kind === 'refuelling' ? lows : highs)[0] ?? level;
  return (before.levelUl + before.burntUl - level.burntUl) / UL_PER_L;
}

/**
 * The level of the tank by the last records. While they are too few for smoothing, the median of those available.
 *
 * @param leftOut events that are not published
 */
export function tankLevelOf(vehicle: VehicleState, leftOut: readonly EventId[]): Pick<VehicleStatus, 'tank'> {
  const tank = vehicle.gauge?.tank ?? null;
  if (tank === null || vehicle.fuel === null) return {};
  const { level, minutes, levels, levelAtMs, change } = vehicle.fuel;
  const minute = minutes.at(-1);
  const levelUl = level?.levelUl ?? minute?.levelUl ?? (levels.length === 0 ? null : median(levels));
  if (levelUl === null) return {};
  const isPublished = change !== null && (leftOut.length === 0 || !leftOut.includes(changeId(vehicle, change)));
  return {
    tank: {
      levelL: levelUl / UL_PER_L,
      capacityL: tank.capacityUl / UL_PER_L,
      atMs: level?.atMs ?? minute?.atMs ?? levelAtMs,
      ...(isPublished && { change: change.kind }),
    },
  };
}

function changeId({ id }: VehicleState, { kind, startedAtMs }: Pick<FuelFinding, 'kind' | 'startedAtMs'>): EventId {
  return deriveEventId(kind, id, '', startedAtMs);
}

function changeEvent(
  vehicle: VehicleState,
  finding: FuelFinding,
  definitionVersion: number,
  fixTimeMs: number,
  endReason: 'settled' | 'no-longer-watched',
): FuelChange {
  const { kind, startedAtMs, endedAtMs, before, after } = finding;
  const place = endedAtMs === null ? before : after;
  return {
    kind,
    id: changeId(vehicle, finding),
    phase: endedAtMs === null ? 'begin' : 'end',
    vehicleId: vehicle.id,
    startedAtMs,
    endedAtMs,
    latitude: place.latitude,
    longitude: place.longitude,
    speedKmh: null,
    fromFixTimeMs: startedAtMs,
    fixTimeMs,
    definitionVersion,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: before.latitude,
    startLongitude: before.longitude,
    volumeL: finding.volumeL,
    levelBeforeL: finding.levelBeforeL,
    levelAfterL: finding.levelAfterL,
    whileMoving: finding.isMoving,
    endReason: endedAtMs === null ? null : endReason,
  };
}
