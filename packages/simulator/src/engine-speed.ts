import type { SensorFields } from '@outrider/domain';

/** km/h at 1000 revolutions per minute, by gear. */
const KMH_PER_1000_RPM = [8, 15, 24, 34, 44, 54] as const;
const IDLE_RPM = 800;
/** Engine speed at which a driver changes to the next gear. */
const SHIFT_RPM = 2400;
/** Engine speed at which a driver in a rush changes to the next gear. */
const LATE_SHIFT_RPM = 3900;
/** Upper threshold of the sensor. */
const LIMIT_RPM = 3000;

/** Revolutions per minute of a running engine, in the gear that the driver would use. */
export function engineSpeedRpm(speedKmh: number, isInRush: boolean): number {
  const shiftRpm = isInRush ? LATE_SHIFT_RPM : SHIFT_RPM;
  const inGear = KMH_PER_1000_RPM.map((kmh) => (speedKmh / kmh) * 1000);
  return Math.round(Math.max(IDLE_RPM, inGear.find((rpm) => rpm <= shiftRpm) ?? (inGear.at(-1) as number)));
}

/** The sensor of a vehicle whose terminal sends the engine speed; values above its threshold mean over-revving. */
export function engineSpeedSensor(): SensorFields {
  return {
    ...{ name: 'Engine speed', kind: 'rpm', unit: 'rpm', source: 'rpm' },
    ...{ calibration: [], outside: 'extrapolate', validMin: 0, validMax: 10_000 },
    ...{ onlyWithIgnition: true, smoothing: 1 },
    thresholds: [{ condition: 'above', min: null, max: LIMIT_RPM, hysteresis: 200, forSeconds: 2 }],
  };
}
