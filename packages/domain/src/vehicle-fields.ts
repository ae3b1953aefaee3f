import { MAX_EXTERNAL_ID } from './custom-fields.ts';
import { DEVICE_MODELS } from './device-models.ts';
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
  /** The closed list of its values, where there is one. */
  values?: readonly string[];
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

/** What a vehicle is, as its icon shows it. */
export const VEHICLE_ICONS = [
  'car',
  'taxi',
  'van',
  'truck',
  'bus',
  'trailer',
  'motorcycle',
  'bicycle',
  'tractor',
  'excavator',
  'crane',
  'ship',
  'train',
  'person',
  'animal',
  'container',
] as const;

/** Units of speeds that terminals send as plain numbers, with their size in km/h. */
export const KMH_PER_UNIT = { knots: 1.852, 'm/s': 3.6, 'km/h': 1 } as const;
export type SpeedUnit = keyof typeof KMH_PER_UNIT;
export const SPEED_UNITS = Object.keys(KMH_PER_UNIT) as SpeedUnit[];

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
  deviceModel: {
    type: 'text',
    maxCharacters: 20,
    values: Object.values(DEVICE_MODELS).flat(),
    refusal: 'It must be a model that GET /api/v1/terminal-protocols names, such as FMB920.',
    default: null,
    description:
      'Model of the terminal, where its protocol has `models`: what a field of its data means depends on it. ' +
      'Null: not said; only what all models mean alike is named.',
    example: 'FMB920',
    since: 5,
  },
  speedUnit: {
    type: 'text',
    maxCharacters: 8,
    values: SPEED_UNITS,
    default: null,
    description:
      'Unit of the speed that a phone application sends as a parameter of its URL. Null: knots, as Traccar Client ' +
      'sends it; OsmAnd and GPSLogger send m/s.',
    example: 'm/s',
    since: 5,
  },
  externalId: {
    type: 'text',
    maxCharacters: MAX_EXTERNAL_ID,
    default: null,
    description: 'What another system knows the vehicle by: unique among the vehicles of a dealer. Null: none.',
    example: 'FLEET-0012',
    since: 5,
  },
  color: {
    type: 'text',
    maxCharacters: 7,
    pattern: /^#[0-9a-f]{6}$/,
    refusal: 'It must be a colour such as #1f5fc4: # and six hexadecimal digits in lower case.',
    default: null,
    description: 'Colour of the vehicle on a map. Null: none of its own.',
    example: '#1f5fc4',
    since: 4,
  },
  icon: {
    type: 'text',
    maxCharacters: 20,
    values: VEHICLE_ICONS,
    default: null,
    description: 'What it is shown as. Null: not said.',
    example: 'van',
    since: 4,
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
  tankCapacityL: {
    type: 'number',
    min: 1,
    max: 100_000,
    default: null,
    description: 'Litres in all tanks together. Null: no refuellings and fuel drains are looked for.',
    example: 400,
    since: 5,
  },
  minRefuelL: {
    type: 'number',
    min: 1,
    max: 100_000,
    default: null,
    description:
      'A rise of the level of at least so many litres is a refuelling. Null: 5 % of the tank, at least 10 l.',
    example: 20,
    since: 5,
  },
  minDrainL: {
    type: 'number',
    min: 1,
    max: 100_000,
    default: null,
    description:
      'A fall of the level by at least so many litres more than the engine burns is a fuel drain. ' +
      'Null: 5 % of the tank, at least 10 l.',
    example: 20,
    since: 5,
  },
  fuelPer100KmL: {
    type: 'number',
    min: 0.1,
    max: 1000,
    default: null,
    description: 'What the engine burns on 100 km, in litres. Null: it is taken to be as usual for such a tank.',
    example: 28,
    since: 5,
  },
  fuelPerHourL: {
    type: 'number',
    min: 0.1,
    max: 1000,
    default: null,
    description:
      'What the engine burns in an hour while the vehicle stands, in litres; without `fuelPer100KmL`, also while it ' +
      'moves. Null: as usual for such a tank.',
    example: 2.5,
    since: 5,
  },
  harshAccelerationMps2: {
    type: 'number',
    min: 0.5,
    max: 10,
    default: null,
    description:
      'A greater gain of speed than so many m/s² is harsh driving (event `harsh-driving`), by fixes at most 5 s apart. ' +
      'Null: only what the terminal itself reports.',
    example: 2.5,
    since: 5,
  },
  harshBrakingMps2: {
    type: 'number',
    min: 0.5,
    max: 10,
    default: null,
    description: 'As `harshAccelerationMps2`, for a loss of speed.',
    example: 3,
    since: 5,
  },
  harshCorneringMps2: {
    type: 'number',
    min: 0.5,
    max: 10,
    default: null,
    description: 'As `harshAccelerationMps2`, for what pulls sideways in a bend.',
    example: 3,
    since: 5,
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
