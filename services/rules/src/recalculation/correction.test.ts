import { deriveEventId, type SensorId, type SensorThresholdExceeded, type VehicleId } from '@outrider/domain';
import { expect, test } from 'vitest';
import { correct } from './correction.ts';

const VEHICLE = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57' as VehicleId;
const SENSOR = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d58' as SensorId;
const MINUTE_MS = 60_000;

function exceeded(thresholdId: string, startedAtMs: number): SensorThresholdExceeded {
  return {
    kind: 'sensor-threshold',
    id: deriveEventId('sensor-threshold', VEHICLE, thresholdId, startedAtMs),
    phase: 'begin',
    vehicleId: VEHICLE,
    startedAtMs,
    endedAtMs: null,
    latitude: 59.9,
    longitude: 30.3,
    speedKmh: null,
    fromFixTimeMs: startedAtMs,
    fixTimeMs: startedAtMs,
    definitionVersion: 1,
    origin: 'recalculated',
    inferred: false,
    sensorId: SENSOR,
    sensorName: 'Cargo',
    sensorKind: 'temperature',
    unit: '°C',
    thresholdId,
    condition: 'above',
    min: null,
    max: -15,
    value: -3.5,
    peakValue: -3.5,
    endReason: null,
  };
}

test('of two thresholds that were exceeded before the first fix each is taken up as itself', () => {
  const firstFixMs = 100 * MINUTE_MS;
  const known = ['warm', 'hot'].map((threshold, nth) => exceeded(threshold, (10 + nth) * MINUTE_MS));
  const found = ['hot', 'warm'].map((threshold) => ({
    ...exceeded(threshold, firstFixMs),
    phase: 'end' as const,
    endedAtMs: firstFixMs + MINUTE_MS,
    fixTimeMs: firstFixMs + MINUTE_MS,
    endReason: 'returned' as const,
  }));
  const { written, removed } = correct(
    {
      made: new Map(found.map((event) => [event.id, event])),
      fromMs: firstFixMs,
      firstFixMs,
      beginsHistory: false,
      firstAfterMs: 200 * MINUTE_MS,
      untilMs: 200 * MINUTE_MS,
      knownBefore: null,
      awaitsData: false,
    },
    known.map((event) => ({ event, recalculation: null, removed: false })),
  );
  expect(removed).toEqual([]);
  expect(written).toMatchObject(
    known.map(({ id, thresholdId, startedAtMs }) => ({ id, thresholdId, startedAtMs, endReason: 'returned' })),
  );
});
