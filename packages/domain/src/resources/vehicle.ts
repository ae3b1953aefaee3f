import type { GroupId, TerminalId, UserId, VehicleId } from '../ids.ts';
import { type CustomFields, EXTERNAL_ID } from './custom-fields.ts';
import { DEVICE_MODELS } from './device-models.ts';
import { COLOR, defaultsOf, type FieldTable, type FieldValues } from './fields.ts';
import type { Sensor } from './sensor.ts';
import type { TerminalAccess } from './terminal-access.ts';

/** Type of vehicle, shown as its icon. */
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

/** Units in which terminals may send speeds as plain numbers, with their size in km/h. */
export const KMH_PER_UNIT = { knots: 1.852, 'm/s': 3.6, 'km/h': 1 } as const;
export type SpeedUnit = keyof typeof KMH_PER_UNIT;
export const SPEED_UNITS = Object.keys(KMH_PER_UNIT) as SpeedUnit[];

/** The plain fields of a vehicle, in the order of its CSV columns. */
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
  externalId: EXTERNAL_ID,
  color: { ...COLOR, description: 'Colour of the vehicle on a map. Null: none of its own.' },
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
} as const satisfies FieldTable;

export type VehicleFieldValues = Omit<FieldValues<typeof VEHICLE_FIELDS>, 'terminalId'> & {
  terminalId: TerminalId | null;
};

/** Default values of a vehicle's fields (semantics, "Trips and stops" and "Other events"). */
export const VEHICLE_DEFAULTS = defaultsOf(VEHICLE_FIELDS) as Omit<VehicleFieldValues, 'name'>;

/** Suspension: only operators see the vehicle's data. Data from its terminal is still accepted and stored. */
export interface Suspension {
  /** Reason shown to people, as in "invoice 1204 is unpaid". */
  reason: string;
  /** A suspension by an operator can only be lifted by operators. */
  by: 'operator' | 'dealer';
  sinceMs: number;
}

/** The vehicle that this one replaced when it was moved to another dealer without its history. */
export interface Predecessor {
  id: VehicleId;
  /** Unix milliseconds. Records with earlier times belong to the predecessor, whenever they arrive. */
  untilMs: number;
}

/** A vehicle profile: without one, a terminal's data is refused. Its plain fields are in {@link VEHICLE_FIELDS}. */
export interface Vehicle extends VehicleFieldValues, CustomFields {
  kind: 'vehicle';
  id: VehicleId;
  version: number;
  /** What a connection must present for its data to be accepted. */
  terminalAccess: TerminalAccess;
  /** The dealer that the vehicle belongs to; null: the operator. */
  dealerId: UserId | null;
  groupIds: readonly GroupId[];
  /** In display order. */
  sensors: readonly Sensor[];
  /** Null: not suspended. */
  suspension: Suspension | null;
  /** Null: no other dealer had the vehicle before, or its history was moved along. */
  predecessor: Predecessor | null;
}
