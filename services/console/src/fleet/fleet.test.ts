import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fleet } from './fleet.ts';
import { latitudeOf, longitudeOf, mercatorX } from './mercator.ts';
import { fleetAt, moveTo, setState, vehicle } from './test-fleet.fixture.ts';

test('a vehicle glides from where it is drawn to its new place, in the time between the fixes', () => {
  const fleet = fleetAt({ a: [10, 50] });
  moveTo(fleet, 'a', 10.001, 50, 3000, 10_000);
  const at = (nowMs: number) => longitudeOf(fleet.drawnX(0, nowMs));
  expect(at(10_000)).toBeCloseTo(10, 9);
  expect(at(11_000)).toBeCloseTo(10.0005, 9);
  expect(at(12_000)).toBeCloseTo(10.001, 9);
  expect(at(99_000)).toBeCloseTo(10.001, 9);
  // The next fix comes half way: there is no jump.
  moveTo(fleet, 'a', 10.001, 50.001, 4000, 11_000);
  expect(at(11_000)).toBeCloseTo(10.0005, 9);
  expect(fleet.restsAtMs).toBe(12_000);
});

test('the first position and far jumps are drawn at once', () => {
  const fleet = fleetAt({ a: [10, 50] });
  expect(fleet.glideMs[0]).toBe(0);
  moveTo(fleet, 'a', 30, 50, 2000, 500);
  expect(longitudeOf(fleet.drawnX(0, 500))).toBeCloseTo(30, 9);
});

test('an older fix does not move a vehicle back; one without a course keeps the last', () => {
  const fleet = fleetAt({ a: [10, 50] });
  moveTo(fleet, 'a', 20, 50, 999, 0);
  expect(fleet.longitude[0]).toBe(10);
  fleet.move('a', { longitude: 11, latitude: 50, fixMs: 2000, speedKmh: 0, courseDeg: Number.NaN }, 0);
  expect([fleet.longitude[0], fleet.courseDeg[0]]).toEqual([11, 90]);
});

test('positions and states of unknown vehicles are nobody’s', () => {
  const fleet = new Fleet();
  moveTo(fleet, 'x', 1, 1, 1, 1);
  setState(fleet, 'x', 'moving');
  expect(fleet.count).toBe(0);
});

test('new definitions keep what is known of the vehicles, and remove those that are gone', () => {
  const fleet = fleetAt({ a: [1, 1], b: [2, 2], c: [3, 3] });
  fleet.define([vehicle('c', { name: 'Renamed' }), vehicle('d')]);
  expect(fleet.count).toBe(2);
  const at = fleet.indexOf('c');
  expect([fleet.vehicles[at]?.name, fleet.longitude[at]]).toEqual(['Renamed', 3]);
  expect(fleet.hasPosition(fleet.indexOf('d'))).toBe(false);
  expect([fleet.indexOf('a'), fleet.indexOf('b')]).toEqual([-1, -1]);
});

test('whatever comes and goes, each vehicle keeps its own data, and the map hears of every change', () => {
  const id = fc.integer({ min: 0, max: 99 }).map(String);
  const step = fc.record({ id, kind: fc.constantFrom('put', 'remove', 'move') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const fleet = new Fleet();
      const model = new Map<string, number>();
      let time = 0;
      for (const { id: which, kind } of steps) {
        time += 1;
        fleet.dirtyFrom = fleet.dirtyTo = 0;
        if (kind === 'put') {
          if (!model.has(which)) model.set(which, 0);
          fleet.put(vehicle(which));
        } else if (kind === 'remove') {
          model.delete(which);
          fleet.remove(which);
        } else if (model.has(which)) {
          model.set(which, time);
          moveTo(fleet, which, time / 10, 0, time, time);
        }
        const index = fleet.indexOf(which);
        if (index >= 0 && kind !== 'remove')
          expect((index >= fleet.dirtyFrom && index < fleet.dirtyTo) || kind === 'put').toBe(true);
      }
      expect(fleet.count).toBe(model.size);
      for (const [which, lastTime] of model) {
        const index = fleet.indexOf(which);
        expect(fleet.vehicles[index]?.id).toBe(which);
        expect(fleet.fixMs[index]).toBe(lastTime);
        if (lastTime > 0) expect(fleet.x[index]).toBe(mercatorX(lastTime / 10));
      }
    }),
  );
});

test('places go into the Mercator square and back', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -85, max: 85, noNaN: true }),
      fc.double({ min: -180, max: 180, noNaN: true }),
      (lat, lon) => {
        const fleet = fleetAt({ a: [lon, lat] });
        expect(longitudeOf(fleet.x[0] as number)).toBeCloseTo(lon, 9);
        expect(latitudeOf(fleet.y[0] as number)).toBeCloseTo(lat, 9);
      },
    ),
  );
});
