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
    description: 'Vehicle identification number (ISO 3779). Null if it is not known.',
    example: 'WDB9066331S123456',
    since: 3,
  },
  terminalId: {
    type: 'text',
    maxCharacters: 64,
    pattern: /^[\x21-\x7e]{1,64}$/,
    refusal: 'It must be 1 to 64 visible ASCII characters.',
    default: null,
    description: 'Id of the terminal as the terminal sends it, such as an IMEI, a serial number or a phone number.',
    example: '356307042441013',
  },
  deviceModel: {
    type: 'text',
    maxCharacters: 20,
    values: Object.values(DEVICE_MODELS).flat(),
    refusal: 'It must be a model that GET /api/v1/terminal-protocols lists, such as FMB920.',
    default: null,
    description:
      'Model of the terminal, if its protocol has `models`. The meaning of some fields of its data depends on the ' +
      'model. Null if it is not given: then only fields with the same meaning in all models are named.',
    example: 'FMB920',
    since: 5,
  },
  speedUnit: {
    type: 'text',
    maxCharacters: 8,
    values: SPEED_UNITS,
    default: null,
    description:
      'Unit of the speed that a phone application sends as a parameter of its URL. Null: knots, the unit of Traccar ' +
      'Client; OsmAnd and GPSLogger send m/s.',
    example: 'm/s',
    since: 5,
  },
  externalId: EXTERNAL_ID,
  color: { ...COLOR, description: 'Colour of the vehicle on a map. Null if it has no colour of its own.' },
  icon: {
    type: 'text',
    maxCharacters: 20,
    values: VEHICLE_ICONS,
    default: null,
    description: 'Icon of the vehicle. Null if none is set.',
    example: 'van',
    since: 4,
  },
  speedLimitKmh: {
    type: 'number',
    min: 1,
    max: 500,
    default: null,
    description: 'Speed limit of the vehicle, in km/h. Null if it has no limit of its own.',
    example: 90,
  },
  speedToleranceKmh: { type: 'number', min: 0, max: 100, default: 0, example: 5 },
  speedingMinSeconds: { type: 'number', min: 0, max: 3600, default: 0, example: 10 },
  offlineAfterMinutes: {
    type: 'number',
    min: 1,
    max: 10_080,
    default: 10,
    description: 'Minutes without data after which the vehicle is offline.',
  },
  movingSpeedKmh: {
    type: 'number',
    min: 0,
    max: 50,
    default: 2,
    description: 'Speed in km/h above which the vehicle counts as moving.',
  },
  movingDistanceM: {
    type: 'number',
    min: 1,
    max: 10_000,
    default: 50,
    description:
      'With the ignition on, the vehicle also counts as moving when it is farther than this, in metres, from where it stood.',
  },
  tripStopMinutes: {
    type: 'number',
    min: 0.5,
    max: 1440,
    default: 5,
    description: 'Minutes without movement that end a trip and begin a stop.',
  },
  tripGapMinutes: {
    type: 'number',
    min: 1,
    max: 10_080,
    default: 60,
    description: 'A gap in the data longer than this, in minutes, ends a trip.',
  },
  tankCapacityL: {
    type: 'number',
    min: 1,
    max: 100_000,
    default: null,
    description: 'Capacity of all tanks together, in litres. If null, refuellings and fuel drains are not detected.',
    example: 400,
    since: 5,
  },
  minRefuelL: {
    type: 'number',
    min: 1,
    max: 100_000,
    default: null,
    description:
      'Smallest rise of the fuel level that counts as a refuelling, in litres. Null: 5 % of the capacity, at least 10 l.',
    example: 20,
    since: 5,
  },
  minDrainL: {
    type: 'number',
    min: 1,
    max: 100_000,
    default: null,
    description:
      'Smallest fall of the fuel level, beyond what the engine burns, that counts as a fuel drain, in litres. ' +
      'Null: 5 % of the capacity, at least 10 l.',
    example: 20,
    since: 5,
  },
  fuelPer100KmL: {
    type: 'number',
    min: 0.1,
    max: 1000,
    default: null,
    description:
      'Expected fuel consumption, in litres per 100 km. If null, consumption is computed from `fuelPerHourL` alone; if that is null as well, from typical values for the tank capacity.',
    example: 28,
    since: 5,
  },
  fuelPerHourL: {
    type: 'number',
    min: 0.1,
    max: 1000,
    default: null,
    description:
      'Expected fuel consumption, in litres per hour, while the vehicle stands with the engine on; without ' +
      '`fuelPer100KmL`, also while it moves. If null, a typical value for the tank capacity is used.',
    example: 2.5,
    since: 5,
  },
  harshAccelerationMps2: {
    type: 'number',
    min: 0.5,
    max: 10,
    default: null,
    description:
      'An increase of speed above this, in m/s², is harsh driving (event `harsh-driving`). It is computed from fixes at ' +
      'most 5 s apart. If null, only harsh driving that the terminal itself reports counts.',
    example: 2.5,
    since: 5,
  },
  harshBrakingMps2: {
    type: 'number',
    min: 0.5,
    max: 10,
    default: null,
    description: 'As `harshAccelerationMps2`, for a decrease of speed.',
    example: 3,
    since: 5,
  },
  harshCorneringMps2: {
    type: 'number',
    min: 0.5,
    max: 10,
    default: null,
    description: 'As `harshAccelerationMps2`, for the sideways acceleration in a bend.',
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
