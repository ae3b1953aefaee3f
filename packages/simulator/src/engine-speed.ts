import type { SensorFields } from '@outrider/domain';

/** km/h at 1000 revolutions per minute, by gear. */
const KMH_PER_1000_RPM = [8, 15, 24, 34, 44, 54] as const;
const IDLE_RPM = 800;
/** Where the next gear is taken, … */
const SHIFT_RPM = 2400;
/** … and where by a driver in a rush. */
const LATE_SHIFT_RPM = 3900;
/** What the engine is to stay below, in the sensor of such a vehicle. */
const LIMIT_RPM = 3000;

/** Revolutions per minute of an engine that runs, in the gear that its driver would take. */
export function engineSpeedRpm(speedKmh: number, isInRush: boolean): number {
  const shiftRpm = isInRush ? LATE_SHIFT_RPM : SHIFT_RPM;
  const inGear = KMH_PER_1000_RPM.map((kmh) => (speedKmh / kmh) * 1000);
  return Math.round(Math.max(IDLE_RPM, inGear.find((rpm) => rpm <= shiftRpm) ?? (inGear.at(-1) as number)));
}

/** The sensor of a vehicle whose terminal sends the engine speed; beyond its threshold the engine over-revs. */
export function engineSpeedSensor(): SensorFields {
  return {
    ...{ name: 'Engine speed', kind: 'rpm', unit: 'rpm', source: 'rpm' },
    ...{ calibration: [], outside: 'extrapolate', validMin: 0, validMax: 10_000 },
    ...{ onlyWithIgnition: true, smoothing: 1 },
    thresholds: [{ condition: 'above', min: null, max: LIMIT_RPM, hysteresis: 200, forSeconds: 2 }],
  };
}
