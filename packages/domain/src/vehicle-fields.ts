import type { TerminalId } from './ids.ts';

interface Described {
  description?: string;
  /** Format of stored definitions that added the field; where earlier ones are read, it gets its default. */
  since?: number;
}

/** A line of text without control characters. */
export interface TextField extends Described {
  type: 'text';
  maxCharacters: number;
  /** Replaces the rule for lines where it is set; `refusal` explains it to callers. */
  pattern?: RegExp;
  refusal?: string;
  /** Null: optional. Without a default the field is required. */
  default?: null;
  example: string;
}

export interface NumberField extends Described {
  type: 'number';
  min: number;
  max: number;
  /** Null: optional, and null by default. */
  default: number | null;
  example?: number;
}

export type VehicleField = TextField | NumberField;

/**
 * The plain fields of a vehicle, each described once. The type {@link Vehicle}, the rows of the registry, the API with
 * its documentation, the CSV columns (in this order), the defaults and the upgrade of stored definitions follow from
 * this table.
 */
export const VEHICLE_FIELDS = {
  name: { type: 'text', maxCharacters: 200, example: 'Van 12' },
  plate: { type: 'text', maxCharacters: 32, default: null, example: 'A123BC' },
  vin: {
    type: 'text',
    maxCharacters: 17,
    pattern: /^[A-HJ-NPR-Z0-9]{17}$/,
    refusal: 'It must be 17 capital letters and digits, without I, O and Q (ISO 3779).',
    default: null,
    description: 'Vehicle identification number (ISO 3779). Null: not known.',
    example: 'WDB9066331S123456',
    since: 3,
  },
  terminalId: {
    type: 'text',
    maxCharacters: 64,
    pattern: /^[\x21-\x7e]{1,64}$/,
    refusal: 'It must be 1 to 64 visible ASCII characters.',
    default: null,
    description: 'As the terminal sends it: an IMEI, a serial number, a phone number.',
    example: '356307042441013',
  },
  speedLimitKmh: {
    type: 'number',
    min: 1,
    max: 500,
    default: null,
    description: 'Null: no limit of its own.',
    example: 90,
  },
  speedToleranceKmh: { type: 'number', min: 0, max: 100, default: 0, example: 5 },
  speedingMinSeconds: { type: 'number', min: 0, max: 3600, default: 0, example: 10 },
  offlineAfterMinutes: {
    type: 'number',
    min: 1,
    max: 10_080,
    default: 10,
    description: 'The vehicle is offline after this long without data.',
  },
  movingSpeedKmh: { type: 'number', min: 0, max: 50, default: 2, description: 'The vehicle moves above this speed.' },
  movingDistanceM: {
    type: 'number',
    min: 1,
    max: 10_000,
    default: 50,
    description: 'With the ignition on, the vehicle also moves when it is farther than this from where it stood.',
  },
  tripStopMinutes: {
    type: 'number',
    min: 0.5,
    max: 1440,
    default: 5,
    description: 'This long without movement ends a trip and begins a stop.',
  },
  tripGapMinutes: {
    type: 'number',
    min: 1,
    max: 10_080,
    default: 60,
    description: 'A longer gap in the data ends a trip.',
  },
} as const satisfies Record<string, VehicleField>;

type Fields = typeof VEHICLE_FIELDS;
export type VehicleFieldName = keyof Fields;

/** The values of {@link VEHICLE_FIELDS}. */
export type VehicleFieldValues = {
  -readonly [Name in VehicleFieldName]: Name extends 'terminalId'
    ? TerminalId | null
    : (Fields[Name]['type'] extends 'text' ? string : number) | (Fields[Name] extends { default: null } ? null : never);
};

export const VEHICLE_FIELD_LIST = Object.entries(VEHICLE_FIELDS) as readonly [VehicleFieldName, VehicleField][];

type Defaulted = {
  [Name in VehicleFieldName]: Fields[Name] extends { default: unknown } ? Name : never;
}[VehicleFieldName];

/** What the fields of a vehicle are where nothing else is set (semantics, "Trips and stops" and "Other events"). */
export const VEHICLE_DEFAULTS = Object.fromEntries(
  VEHICLE_FIELD_LIST.flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
) as Pick<VehicleFieldValues, Defaulted>;

/** Ids as plain text, as a database returns them. */
export type Unbranded<T> = {
  [Name in keyof T]: T[Name] extends string | null ? string | Extract<T[Name], null> : T[Name];
};

/** The plain fields alone, of a vehicle or of anything that has them. */
export function vehicleFieldsOf(source: Unbranded<VehicleFieldValues>): VehicleFieldValues {
  return Object.fromEntries(VEHICLE_FIELD_LIST.map(([name]) => [name, source[name]])) as VehicleFieldValues;
}
