import { type FieldRule, NewVehicleFields } from '@outrider/client';
import { vehicleWords } from './words.ts';

/** The numeric fields of a vehicle, as its form groups them. */
export const SPEED_FIELDS = ['speedLimitKmh', 'speedToleranceKmh', 'speedingMinSeconds'] as const;
export const MOTION_FIELDS = [
  'offlineAfterMinutes',
  'movingSpeedKmh',
  'movingDistanceM',
  'tripStopMinutes',
  'tripGapMinutes',
] as const;
export const FUEL_FIELDS = ['tankCapacityL', 'minRefuelL', 'minDrainL', 'fuelPer100KmL', 'fuelPerHourL'] as const;
export const DRIVING_FIELDS = ['harshAccelerationMps2', 'harshBrakingMps2', 'harshCorneringMps2'] as const;
export type NumberName =
  | (typeof SPEED_FIELDS)[number]
  | (typeof MOTION_FIELDS)[number]
  | (typeof FUEL_FIELDS)[number]
  | (typeof DRIVING_FIELDS)[number];
type TextName = 'name' | 'plate' | 'vin' | 'terminalId';

/** Label, limits and hint of a field: the limits are those of the API. */
export function numberProps(name: NumberName) {
  const { minimum, maximum, isNullable }: FieldRule = NewVehicleFields[name];
  const { fields, hints, range } = vehicleWords();
  const limits = minimum === undefined || maximum === undefined ? '' : range(String(minimum), String(maximum));
  const hint = [hints[name], limits].filter((text) => text !== '').join('. ');
  return {
    label: fields[name],
    hint,
    required: !isNullable,
    ...(minimum === undefined ? {} : { min: minimum }),
    ...(maximum === undefined ? {} : { max: maximum }),
  };
}

/** Props for a plain field of the form. */
export function plainProps(name: NumberName | TextName) {
  const rule: FieldRule = NewVehicleFields[name];
  const { fields, hints } = vehicleWords();
  const isText = rule.type === 'text';
  const hint = isText ? (hints as Partial<Record<string, string>>)[name] : numberProps(name as NumberName).hint;
  return {
    name,
    rule,
    label: fields[name],
    ...(hint === undefined ? {} : { hint }),
    ...(isText && rule.example !== undefined ? { placeholder: String(rule.example) } : {}),
  };
}
