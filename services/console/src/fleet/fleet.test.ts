import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
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

test('a vehicle that moves goes on from its fix with its speed and course; one that stands does not', () => {
  const fleet = fleetAt({ a: [10, 50] });
  setState(fleet, 'a', 'moving');
  const metresEast = (longitude: number) =>
    ((longitude - 10) * Math.PI * 6_371_008.8 * Math.cos((50 * Math.PI) / 180)) / 180;
  const at = (nowMs: number) => metresEast(longitudeOf(fleet.drawnX(0, nowMs)));
  // At 50 km/h to the east, 4 s after the fix before.
  const fix = { longitude: 10.001, latitude: 50, fixMs: 5000, speedKmh: 50, courseDeg: 90 };
  fleet.move('a', fix, 10_000);
  expect(at(14_000) - metresEast(10.001)).toBeCloseTo((50 / 3.6) * 4, 3);
  expect(at(99_000)).toBe(at(14_000));
  expect(fleet.longitude[0]).toBe(10.001);
  fleet.move('a', { ...fix, fixMs: 95_000, longitude: 10.002 }, 100_000);
  expect(at(200_000) - metresEast(10.002)).toBeCloseTo((50 / 3.6) * 15, 3);
  fleet.move('a', { ...fix, fixMs: 105_000, longitude: 10.003, speedKmh: 0 }, 110_000);
  expect(at(112_000)).toBeCloseTo(metresEast(10.003), 3);
  fleet.move('a', { ...fix, fixMs: 106_000, longitude: 10.004, speedKmh: null }, 120_000);
  expect(at(121_000)).toBeCloseTo(metresEast(10.004), 3);
});

test('a fix is overdue after three times the usual wait and ten seconds, of vehicles that move alone', () => {
  const fleet = fleetAt({ a: [10, 50], parked: [11, 50], first: [12, 50] });
  setState(fleet, 'a', 'moving');
  setState(fleet, 'first', 'moving');
  setState(fleet, 'parked', 'parking');
  for (const id of ['a', 'parked'])
    for (const second of [5, 10, 15]) moveTo(fleet, id, 10, 50, 1000 + second * 1000, second * 1000);
  const overdueAt = (nowMs: number) => {
    fleet.dirtyFrom = fleet.dirtyTo = 0;
    fleet.noteOverdue(nowMs);
    return [...fleet.overdue.subarray(0, 3)];
  };
  expect(overdueAt(15_000 + 25_000)).toEqual([0, 0, 0]);
  expect(fleet.dirtyTo).toBe(0);
  expect(overdueAt(15_000 + 25_001)).toEqual([1, 0, 0]);
  expect(fleet.dirtyTo).toBe(1);
  setState(fleet, 'first', 'offline');
  expect([0, 1, 2].map((index) => fleet.isLate(index))).toEqual([true, false, true]);
  moveTo(fleet, 'a', 10, 50, 60_000, 60_000);
  expect(overdueAt(60_000)).toEqual([0, 0, 0]);
  // The wait was long: the next one may be longer.
  expect(fleet.rhythmMs[0]).toBeCloseTo(5000 + 0.3 * (44_000 - 5000), 6);
});

test('the first position and far jumps are drawn at once', () => {
  const fleet = fleetAt({ a: [10, 50] });
  expect(fleet.glideMs[0]).toBe(0);
  moveTo(fleet, 'a', 30, 50, 2000, 500);
  expect(longitudeOf(fleet.drawnX(0, 500))).toBeCloseTo(30, 9);
});

test('bounds hold the vehicles that were asked for and have a position', () => {
  const fleet = fleetAt({ a: [10, 50], b: [12, 48], c: [30, 60] });
  fleet.put(vehicle('d'));
  const bounds = fleet.boundsOf((index) => index !== fleet.indexOf('c'));
  for (const [nth, degrees] of [10, 48, 12, 50].entries()) expect(bounds?.[nth]).toBeCloseTo(degrees, 6);
  expect(fleet.boundsOf((index) => index === fleet.indexOf('d'))).toBeNull();
});

test('an older fix does not move a vehicle back; one without a course keeps the last', () => {
  const fleet = fleetAt({ a: [10, 50] });
  moveTo(fleet, 'a', 20, 50, 999, 0);
  expect(fleet.longitude[0]).toBe(10);
  fleet.move('a', { longitude: 11, latitude: 50, fixMs: 2000, speedKmh: 0, courseDeg: null }, 0);
  expect([fleet.longitude[0], fleet.courseDeg[0]]).toEqual([11, 90]);
});

test('of 10,000 changes between two pictures the first one asks for a picture', () => {
  const fleet = fleetAt({ a: [10, 50], b: [11, 50] });
  let requests = 0;
  fleet.onChange = () => {
    requests += 1;
  };
  const afterPicture = (change: () => void) => {
    fleet.dirtyFrom = fleet.dirtyTo = 0;
    requests = 0;
    change();
    return requests;
  };
  const moveBoth = () => {
    for (const id of ['a', 'b']) moveTo(fleet, id, 12, 50, 3000, 0);
  };
  expect(afterPicture(moveBoth)).toBe(1);
  expect(afterPicture(moveBoth)).toBe(1);
  expect(afterPicture(() => fleet.setShown(() => true))).toBe(0);
  expect(afterPicture(() => fleet.setShown(() => false))).toBe(1);
});

test('rows follow at most once a second, and not before the picture', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const fleet = new Fleet();
    const after = (ms: number) => {
      fleet.put(vehicle('a'));
      vi.advanceTimersByTime(ms);
      return fleet.version.value;
    };
    expect([after(50), after(100), after(800), after(300)]).toEqual([0, 1, 1, 2]);
  } finally {
    vi.useRealTimers();
  }
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

test('who drives is known until the vehicle or the driver is gone', () => {
  const fleet = fleetAt({ a: [0, 0], b: [1, 1] });
  const anna = { id: 'anna', name: 'Anna' };
  fleet.setDriving('a', { driver: anna, code: 'A1' });
  fleet.setDriving('b', { driver: null, code: 'B2' });
  // What comes before the vehicle itself waits for it.
  fleet.setDriving('c', { driver: { id: 'cid', name: 'Cid' }, code: null });
  expect([...fleet.vehiclesByDriver()].map(([id, { name }]) => [id, name])).toEqual([['anna', 'a']]);
  fleet.put(vehicle('c'));
  expect(fleet.vehiclesByDriver().get('cid')?.name).toBe('c');
  expect(fleet.drivingOf('b')).toEqual({ driver: null, code: 'B2' });
  fleet.setDriving('a', null);
  fleet.remove('c');
  expect([fleet.drivingOf('a'), fleet.drivingOf('c'), fleet.vehiclesByDriver().size]).toEqual([null, null, 0]);
});

test('a tank has a level until it is not known any more, or the vehicle is gone', () => {
  const fleet = fleetAt({ a: [0, 0], b: [1, 1] });
  for (const id of ['a', 'b', 'c']) fleet.setTank(id, 40);
  fleet.setTank('a', null);
  fleet.remove('b');
  expect(['a', 'b', 'c'].map((id) => fleet.tankOf(id))).toEqual([null, null, 40]);
  fleet.clear();
  expect(fleet.tankOf('c')).toBe(null);
});
