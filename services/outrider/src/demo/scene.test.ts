import { type FleetEvent, identifiedSensors, type VehicleId } from '@outrider/domain';
import { sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { createDemoScenario, createDriver, type DemoVehicle, type Driver, pastPlan } from '@outrider/simulator';
import { expect, test } from 'vitest';
import { stageScenes } from './scene.ts';

const NOW_MS = Date.UTC(2026, 4, 6, 13);
const HOUR_MS = 3_600_000;
const SOON_S = 120;

test('a theft and a refuelling are found within two minutes of the start, in every town', () => {
  for (const seed of [1, 2, 3]) {
    const { network, vehicles } = createDemoScenario(seed);
    const actors = vehicles.map((vehicle) => {
      const plan = pastPlan(vehicle, NOW_MS - 1.5 * HOUR_MS);
      return { vehicle, driver: createDriver(network, plan, vehicle.seed, NOW_MS - 6 * HOUR_MS) };
    });
    const drivers = stageScenes(network, actors, NOW_MS);
    const begun = [...drivers].flatMap(([vehicle, driver]) => fuelEventsOf(vehicle, driver));
    const around = begun.filter(({ fixTimeMs }) => fixTimeMs > NOW_MS - HOUR_MS);
    expect(around.map(({ kind }) => kind).toSorted(), `town ${seed}`).toEqual(['fuel-drain', 'refuelling']);
    for (const { fixTimeMs } of around) {
      expect((fixTimeMs - NOW_MS) / 1000).toBeGreaterThan(0);
      expect((fixTimeMs - NOW_MS) / 1000).toBeLessThan(SOON_S);
    }
  }
});

/** The begins of what the rules find in the tank, until half an hour after the start. */
function fuelEventsOf({ profile, protocol, sensors }: DemoVehicle, driver: Driver): FleetEvent[] {
  const engine = new Engine();
  const id = '00000000-0000-7000-8000-000000000001' as VehicleId;
  const definition = sampleVehicle({ ...profile, id, sensors: identifiedSensors(sensors, [], () => id) });
  engine.applyDefinition({ kind: 'vehicle', id, version: 1, changedAtMs: 0, definition });
  const events: FleetEvent[] = [];
  const { terminalId } = profile;
  const positions = driver.advanceTo(NOW_MS + HOUR_MS / 2);
  for (const [offset, position] of positions.entries()) {
    const receivedAtMs = position.fixTimeMs + 500;
    engine.process({ vehicleId: id, terminalId, protocol, receivedAtMs, positions: [position] }, offset, events);
  }
  return events.filter(({ kind, phase }) => phase === 'begin' && (kind === 'fuel-drain' || kind === 'refuelling'));
}
