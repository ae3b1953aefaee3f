import { blankPosition } from '@outrider/domain';
import { sampleSensor } from '@outrider/domain/samples';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CompiledSensor, VehicleSensors } from './vehicle-sensors.ts';

const threshold = (min: number | null, max: number | null) => ({
  id: '00000000-0000-7000-8000-0000000000e2',
  condition: 'outside' as const,
  ...{ min, max, hysteresis: 0, forSeconds: 0 },
});
const recordOf = (raw: unknown) => ({ ...blankPosition(0, 59, 30), attributes: { raw: raw as number } });
const guardOf = (more: Parameters<typeof sampleSensor>[0]) =>
  new CompiledSensor(sampleSensor({ source: 'raw', thresholds: [threshold(-10, 10)], ...more })).guard;

describe('the range in which no threshold is exceeded', () => {
  test.each([
    ['raw', -10, 10],
    ['raw * 2', -5, 5],
    ['raw / -2', -20, 20],
    ['raw + 3', -13, 7],
    ['(raw - 32) * 5 / 9', 14, 50],
  ])('of %s', (source, min, max) => {
    const guard = guardOf({ source });
    expect(guard?.min).toBeCloseTo(min, 5);
    expect(guard?.max).toBeCloseTo(max, 5);
  });

  test.each(['raw * raw', '100 - raw', 'raw > 3', 'max(raw, 2)', 'raw * 0', 'raw / 0', 'raw % 3', 'constructor'])(
    'is not known of %s',
    (source) => expect(guardOf({ source })).toBeNull(),
  );

  test('is the widest of those that a table has', () => {
    const calibration = [
      { raw: 0, value: 0 },
      { raw: 10, value: 20 },
      { raw: 20, value: 0 },
      { raw: 40, value: 5 },
      { raw: 50, value: 15 },
    ];
    const guard = guardOf({ calibration, outside: 'clamp' });
    expect(guard?.min).toBeCloseTo(15, 5);
    expect(guard?.max).toBeCloseTo(45, 5);
  });

  test('a record within it gives each sensor no value, or one that exceeds no threshold', () => {
    const number = fc.oneof(
      fc.integer({ min: -30, max: 30 }),
      fc.integer({ min: -1e12, max: 1e12 }).map((n) => n / 1e6),
    );
    const source = fc
      .array(fc.tuple(fc.constantFrom('+', '-', '*', '/'), number), { maxLength: 3 })
      .map((steps) => steps.reduce((text, [operator, by]) => `(${text} ${operator} ${by})`, 'raw'));
    const calibration = fc
      .uniqueArray(fc.record({ raw: number, value: number }), { maxLength: 5, selector: ({ raw }) => raw })
      .map((points) => points.sort((a, b) => a.raw - b.raw));
    const limits = fc.tuple(number, number).map((ends) => ends.sort((a, b) => a - b) as [number, number]);
    const outside = fc.constantFrom('clamp' as const, 'extrapolate' as const);
    let decided = 0;
    fc.assert(
      fc.property(source, calibration, outside, limits, fc.array(number), (text, points, beyond, [min, max], more) => {
        const thresholds = [threshold(min, max)];
        const sensor = new CompiledSensor(
          sampleSensor({ source: text, calibration: points, outside: beyond, thresholds }),
        );
        const { guard } = sensor;
        if (guard === null) return;
        decided++;
        const sensors = new VehicleSensors([sensor]);
        const near = [guard.min, guard.max, (guard.min + guard.max) / 2];
        for (const raw of [...near, ...more, true, false, 'x', Number.NaN, Number.POSITIVE_INFINITY, undefined]) {
          if (!sensors.areSafe(recordOf(raw))) continue;
          const value = sensor.valueOf(recordOf(raw));
          if (!Number.isNaN(value)) expect(value >= min && value <= max, `${raw} gives ${value}`).toBe(true);
        }
        for (const raw of near) expect(sensors.areSafe(recordOf(raw))).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
    expect(decided).toBeGreaterThan(0);
  });
});
