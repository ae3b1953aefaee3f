import { expect, test } from 'vitest';
import { levelSensors, rawOf } from './level-sensor.ts';

const PLAN = { emptyRaw: 20, fullRaw: 4095 };

test('by the calibration table of its sensor a level is what it was', () => {
  const [{ calibration = [] } = {}] = levelSensors(PLAN, 420);
  for (const levelL of [0, 5, 42, 111.3, 210, 333, 419.9, 420]) {
    const raw = rawOf(PLAN, levelL, 420);
    const at = Math.max(
      1,
      calibration.findIndex((point) => point.raw >= raw),
    );
    const [low, high] = [calibration[at - 1], calibration[at]];
    if (!low || !high) throw new Error('no such point');
    const value = low.value + ((raw - low.raw) / (high.raw - low.raw)) * (high.value - low.value);
    expect(Math.abs(value - levelL)).toBeLessThan(0.3);
  }
});
