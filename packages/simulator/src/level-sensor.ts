import type { AttributeValue, SensorFields } from '@outrider/domain';

/** An uncalibrated level sensor in a tank: it sends raw values from 1 to 4095, whatever the tank. */
export interface LevelSensorPlan {
  emptyRaw: number;
  fullRaw: number;
}

/** Tanks are narrower at the bottom: share of the volume that is below a share of the height. */
const SHAPE: readonly [height: number, volume: number][] = [
  [0, 0],
  [0.1, 0.07],
  [0.25, 0.22],
  [0.5, 0.5],
  [0.75, 0.78],
  [0.9, 0.93],
  [1, 1],
];

/** The raw value at a fuel level. */
export function rawOf({ emptyRaw, fullRaw }: LevelSensorPlan, levelL: number, tankL: number): number {
  const share = Math.min(1, Math.max(0, levelL / tankL));
  const above = Math.max(
    1,
    SHAPE.findIndex(([, volume]) => volume >= share),
  );
  const [low, lowVolume] = SHAPE[above - 1] as (typeof SHAPE)[number];
  const [high, highVolume] = SHAPE[above] as (typeof SHAPE)[number];
  const height = low + ((share - lowVolume) / (highVolume - lowVolume)) * (high - low);
  return Math.round(emptyRaw + height * (fullRaw - emptyRaw));
}

/** The attributes that its terminal records. */
export function levelAttributes(plan: LevelSensorPlan, levelL: number, tankL: number): Record<string, AttributeValue> {
  return { fuelLevel1: rawOf(plan, levelL, tankL) };
}

/** The sensor of such a vehicle, with the calibration table of its tank. */
export function levelSensors({ emptyRaw, fullRaw }: LevelSensorPlan, tankL: number): SensorFields[] {
  const calibration = SHAPE.map(([height, volume]) => ({
    raw: Math.round(emptyRaw + height * (fullRaw - emptyRaw)),
    value: Math.round(volume * tankL * 10) / 10,
  }));
  return [
    {
      ...{ name: 'Tank', kind: 'fuel-level', unit: 'l', source: 'fuelLevel1', calibration, outside: 'clamp' },
      ...{ validMin: null, validMax: null, onlyWithIgnition: false, smoothing: 1 },
      thresholds: [{ condition: 'below', min: Math.round(tankL / 10), max: null, hysteresis: 5, forSeconds: 60 }],
    },
  ];
}
