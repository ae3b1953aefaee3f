import type { SensorKind } from '@outrider/domain';

/** A sensor that terminals of a family usually have, with the settings that are the same in every vehicle. */
export interface SensorPreset {
  name: string;
  kind: SensorKind;
  unit: string;
  /** Common attribute names where they exist, else the terminal's own names. */
  source: string;
}

export interface SensorPresetFamily {
  family: string;
  title: string;
  sensors: readonly SensorPreset[];
}

const preset = (name: string, kind: SensorKind, unit: string, source: string): SensorPreset => ({
  name,
  kind,
  unit,
  source,
});
const numbered = (count: number, make: (n: number) => SensorPreset): SensorPreset[] =>
  Array.from({ length: count }, (_, n) => make(n + 1));

const levels = (count: number) => numbered(count, (n) => preset(`Fuel level ${n}`, 'fuel-level', 'l', `fuelLevel${n}`));
const temperatures = (count: number) =>
  numbered(count, (n) => preset(`Temperature ${n}`, 'temperature', '°C', `temperature${n}C`));
const inputs = (count: number) => numbered(count, (n) => preset(`Input ${n}`, 'digital', '', `input${n}`));
const SUPPLY = preset('Supply voltage', 'voltage', 'V', 'supplyV');
const RPM = preset('Engine speed', 'rpm', 'rpm', 'rpm');
const COOLANT = preset('Coolant temperature', 'temperature', '°C', 'engineTemperatureC');
const USED = preset('Fuel used', 'fuel-used', 'l', 'fuelUsedL');
const HOURS = preset('Engine hours', 'engine-hours', 'h', 'engineHours');
const BUS_ODOMETER = preset('Odometer of the bus', 'odometer', 'km', 'canOdometerM * 0.001');
const THROTTLE = preset('Accelerator pedal', 'custom', '%', 'throttlePercent');

/**
 * Sensors by families of terminals and buses, by the attributes that their codecs give (`attributes.ts`). A level
 * sensor's raw value needs the calibration table of its tank.
 */
export const SENSOR_PRESETS: readonly SensorPresetFamily[] = [
  {
    family: 'teltonika',
    title: 'Teltonika FMB, FMC, FMM',
    sensors: [
      SUPPLY,
      ...temperatures(4),
      ...numbered(4, (n) => preset(`Humidity ${n}`, 'humidity', '%', `humidity${n}Percent`)),
      ...levels(2),
      ...inputs(3),
      ...numbered(2, (n) => preset(`Analog input ${n}`, 'voltage', 'V', `analog${n}V`)),
      RPM,
      COOLANT,
      USED,
      BUS_ODOMETER,
    ],
  },
  { family: 'omnicomm', title: 'Omnicomm LLS', sensors: [...levels(6), ...temperatures(6), ...inputs(4), SUPPLY, RPM] },
  {
    family: 'jt808',
    title: 'JT/T 808',
    sensors: [preset('Fuel', 'fuel-level', 'l', 'fuelL'), ...temperatures(1), ...inputs(2), SUPPLY],
  },
  {
    family: 'wialon-ips',
    title: 'Wialon IPS',
    sensors: [
      ...levels(2),
      ...temperatures(2),
      ...inputs(4),
      ...numbered(4, (n) => preset(`ADC ${n}`, 'voltage', 'V', `adc${n}`)),
      preset('Power', 'voltage', 'V', 'supplyV'),
    ],
  },
  {
    family: 'j1939',
    title: 'J1939 (CAN, FMS)',
    sensors: [
      preset('Fuel level (SPN 96)', 'custom', '%', 'fuel1Percent'),
      { ...RPM, name: 'Engine speed (SPN 190)' },
      { ...COOLANT, name: 'Coolant temperature (SPN 110)' },
      { ...USED, name: 'Total fuel used (SPN 250)' },
      { ...HOURS, name: 'Engine hours (SPN 247)' },
      { ...BUS_ODOMETER, name: 'Vehicle distance (SPN 245, 917)' },
      { ...THROTTLE, name: 'Accelerator pedal (SPN 91)' },
    ],
  },
  {
    family: 'obd',
    title: 'OBD-II',
    sensors: [
      { ...RPM, name: 'Engine speed (PID 0C)' },
      { ...COOLANT, name: 'Coolant temperature (PID 05)' },
      preset('Fuel level (PID 2F)', 'custom', '%', 'fuel1Percent'),
      { ...THROTTLE, name: 'Throttle (PID 11)' },
      preset('Speed (PID 0D)', 'custom', 'km/h', 'canSpeedKmh'),
    ],
  },
];
