import type { AttributeValue, FleetEvent, Position, Sensor, SensorId, SensorThreshold } from '@outrider/domain';
import { sampleSensor } from '@outrider/domain/samples';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Engine } from '../engine.ts';
import { fix, reported, Scene, user, VEHICLE, vehicle } from '../scene.fixture.ts';

const threshold = (more: Partial<SensorThreshold>): SensorThreshold => ({
  id: '00000000-0000-7000-8000-0000000000e2',
  condition: 'above',
  min: null,
  max: null,
  hysteresis: 0,
  forSeconds: 0,
  ...more,
});
const cargo = (terms: Partial<SensorThreshold> | null, more: Partial<Sensor> = {}) =>
  sampleSensor({ source: 't', thresholds: terms === null ? [] : [threshold(terms)], ...more });
const scene = (...sensors: Sensor[]) => new Scene(user(), vehicle({ sensors })).only('sensor-threshold');
const at = (seconds: number, t: AttributeValue | null, more: Partial<Position> = {}) =>
  fix(seconds, 0.3, 0.3, { speedKmh: 30, attributes: t === null ? {} : { t }, ...more });
const run = (of: Scene, ...records: Position[]) => reported(records.flatMap((record) => of.drive(record)));

describe('a threshold', () => {
  test('is exceeded from the first value beyond it to the first behind its hysteresis', () => {
    const above = scene(cargo({ condition: 'above', max: -15, hysteresis: 2 }));
    expect(run(above, at(0, -20), at(10, -15), at(20, -14), at(30, -16), at(40, -17), at(50, -14))).toEqual([
      '+sensor-threshold @20',
      '-sensor-threshold @40 returned',
      '+sensor-threshold @50',
    ]);
    const below = scene(cargo({ condition: 'below', min: 10 }));
    expect(run(below, at(0, 10), at(10, 9), at(20, 10))).toEqual([
      '+sensor-threshold @10',
      '-sensor-threshold @20 returned',
    ]);
    const inside = scene(cargo({ condition: 'inside', min: 2, max: 8, hysteresis: 1 }));
    expect(run(inside, at(0, 1), at(10, 2), at(20, 8.5), at(30, 9.5))).toEqual([
      '+sensor-threshold @10',
      '-sensor-threshold @30 returned',
    ]);
    const outside = scene(cargo({ condition: 'outside', min: 2, max: 8, hysteresis: 1 }));
    expect(run(outside, at(0, 5), at(10, 1), at(20, 2.5), at(30, 3))).toEqual([
      '+sensor-threshold @10',
      '-sensor-threshold @30 returned',
    ]);
  });

  test('has to be exceeded for its time without a break', () => {
    const sixty = scene(cargo({ max: 0, forSeconds: 60, hysteresis: 5 }));
    const events = run(sixty, at(0, 1), at(30, 0), at(40, 1), at(99, 2), at(100, 3), at(110, -1), at(120, -5));
    expect(events).toEqual(['+sensor-threshold @40', '-sensor-threshold @120 returned']);
  });

  test('its event names the sensor, the threshold, the values and the place', () => {
    const hot = scene(cargo({ max: 0 }, { name: 'Freezer' }));
    const [begin, end] = [at(0, 3), at(10, 7), at(20, -1)].flatMap((record) => hot.drive(record));
    expect(begin).toMatchObject({
      ...{ phase: 'begin', sensorName: 'Freezer', sensorKind: 'temperature', unit: '°C', condition: 'above' },
      ...{ min: null, max: 0, value: 3, peakValue: 3, endReason: null, latitude: 0.3, speedKmh: 30 },
    });
    expect(end).toMatchObject({ id: begin?.id, phase: 'end', value: -1, peakValue: 7, endReason: 'returned' });
  });

  test('counts without a fix, and not where there is no value', () => {
    const blind = scene(cargo({ max: 0 }));
    const lost = { valid: false, latitude: 0, longitude: 0 };
    expect(run(blind, at(0, -1), at(10, 1, lost), at(20, null), at(30, 'x'), at(40, -1, lost))).toEqual([
      '+sensor-threshold @10',
      '-sensor-threshold @40 returned',
    ]);
  });

  test('is over after a gap in the values', () => {
    const gap = scene(cargo({ max: 0 }));
    expect(run(gap, at(0, 1), at(60, 2), at(3600, null), at(3661, 1))).toEqual([
      '+sensor-threshold @0',
      '-sensor-threshold @60 gap',
      '+sensor-threshold @3661',
    ]);
  });

  test('goes on under a definition that leaves it alone, and ends with a change of it or its vehicle', () => {
    const hot = scene(cargo({ max: 0 }));
    expect(run(hot, at(0, 1))).toEqual(['+sensor-threshold @0']);
    const define = (version: number, sensor: Sensor | null, seconds: number) =>
      reported(hot.define(vehicle({ version, sensors: sensor === null ? [] : [sensor] }), seconds));
    expect(define(2, cargo({ max: 0 }, { name: 'Box' }), 10)).toEqual([]);
    expect(define(3, cargo({ max: -1 }, { name: 'Box' }), 20)).toEqual(['-sensor-threshold @0 sensor-changed']);
    expect(run(hot, at(30, 1))).toEqual(['+sensor-threshold @30']);
    expect(define(4, cargo({ max: -1 }, { source: 't + 0.5' }), 40)).toEqual(['-sensor-threshold @30 sensor-changed']);
    expect(run(hot, at(50, 1))).toEqual(['+sensor-threshold @50']);
    expect(reported(hot.remove('vehicle', VEHICLE, 5, 60))).toEqual(['-sensor-threshold @50 no-longer-watched']);
  });
});

test('late values move nothing, and are late', () => {
  const hot = scene(cargo({ max: 0 }));
  expect(run(hot, at(0, -1), at(60, -1), at(30, 5))).toEqual([]);
  expect(hot.engine.takeLate()).toMatchObject([{ fromMs: at(30, 0).fixTimeMs }]);
});

test('a smoothed value is the median of the newest ones', () => {
  const smooth = scene(cargo({ max: 0 }, { smoothing: 3 }));
  expect(run(smooth, at(0, -5), at(10, 9), at(20, -5), at(30, 9), at(40, 9))).toEqual([
    '+sensor-threshold @10',
    '-sensor-threshold @20 returned',
    '+sensor-threshold @30',
  ]);
});

test('the status has the newest value of each sensor, and what it is beyond', () => {
  const both = scene(
    cargo({ max: 0 }),
    sampleSensor({
      id: '00000000-0000-7000-8000-0000000000e5' as never,
      name: 'Door',
      kind: 'digital',
      source: 'door1',
    }),
  );
  both.send({ positions: [at(0, 1), at(10, null, { attributes: { door1: true } }), at(20, null)] });
  expect(both.engine.statusOf(VEHICLE)?.sensors).toMatchObject([
    { name: 'Cargo', value: 1, atMs: at(0, 1).fixTimeMs, exceeded: [threshold({}).id] },
    { name: 'Door', value: 1, atMs: at(10, 1).fixTimeMs, exceeded: [] },
  ]);
  expect(scene().engine.statusOf(VEHICLE)?.sensors).toBeUndefined();
});

test('a restart changes nothing', () => {
  const smooth = () => scene(cargo({ max: 0, forSeconds: 15 }, { smoothing: 3 }));
  const records = [at(0, 1), at(10, 1), at(20, 1), at(30, -1), at(40, -1), at(50, -1)];
  const whole = smooth();
  const expected = records.flatMap((record) => whole.drive(record));
  expect(reported(expected)).toEqual(['+sensor-threshold @0', '-sensor-threshold @40 returned']);
  for (let stop = 1; stop < records.length; stop++) {
    const first = smooth();
    const events: FleetEvent[] = records.slice(0, stop).flatMap((record) => first.drive(record));
    const entries = first.engine.takeChanges().filter((entry): entry is [string, Buffer] => entry[1] !== null);
    const second = new Engine();
    second.restore(entries);
    first.engine = second;
    events.push(...records.slice(stop).flatMap((record) => first.drive(record)));
    expect(events).toEqual(expected);
    expect(second.statusOf(VEHICLE)?.sensors).toEqual(whole.engine.statusOf(VEHICLE)?.sensors);
  }
});

test('values are made when somebody asks for them, whenever that is: the same values, events and state', () => {
  const value = fc.oneof(fc.integer({ min: -8, max: 8 }), fc.constantFrom(null, 'x', true, Number.NaN));
  const record = fc.record({
    afterSeconds: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constantFrom(299, 300, 301, 900)),
    t: value,
    u: value,
    ignition: fc.boolean(),
    isAsked: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });
  const sensors = [
    cargo({ max: 6, hysteresis: 1 }),
    cargo({ min: -6, condition: 'below' }, { source: 'u * 2 - 1', onlyWithIgnition: true, validMax: 12 }),
    cargo(null, { source: 'u', smoothing: 3 }),
    cargo({ max: 5 }, { source: 't', smoothing: 2 }),
    cargo(null, { source: 'u + 1' }),
    cargo({ max: 60 }, { source: 't * t' }),
  ].map((sensor, n) => ({ ...sensor, id: `00000000-0000-7000-8000-00000000010${n}` as SensorId }));
  fc.assert(
    fc.property(fc.array(record, { maxLength: 90 }), fc.integer({ min: 0, max: 60 }), (records, redefinedAt) => {
      const [always, seldom] = [scene(...sensors), scene(...sensors)];
      let seconds = 0;
      for (const [n, { afterSeconds, t, u, ignition, isAsked }] of records.entries()) {
        if (n === redefinedAt) {
          const next = vehicle({ version: 2, sensors: sensors.toReversed(), tripGapMinutes: 2 });
          expect(seldom.define(next, seconds)).toEqual(always.define(next, seconds));
        }
        seconds += afterSeconds;
        const attributes = { ...(t !== null && { t }), ...(u !== null && { u }) };
        expect(seldom.drive(at(seconds, 0, { attributes, ignition }))).toEqual(
          always.drive(at(seconds, 0, { attributes, ignition })),
        );
        const shown = always.engine.statusOf(VEHICLE)?.sensors;
        if (isAsked) expect(seldom.engine.statusOf(VEHICLE)?.sensors).toEqual(shown);
      }
      expect(seldom.engine.takeChanges()).toEqual(always.engine.takeChanges());
    }),
    { numRuns: runs(200) },
  );
});
