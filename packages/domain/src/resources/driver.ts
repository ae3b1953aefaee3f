import type { DriverAssignmentId, DriverId, GroupId, UserId, VehicleId } from '../ids.ts';
import type { Caller } from '../rights.ts';
import { limitedAccount } from './api-key.ts';
import type { CustomFields } from './custom-fields.ts';
import { defaultsOf, type FieldTable, type FieldValues } from './fields.ts';

/** Code that identifies a driver, now or in the past: a card, a key, a tag. */
export interface DriverCode {
  /** Normalised by {@link driverCodeOf}. */
  code: string;
  /** Unix milliseconds from which the code belongs to the driver. */
  sinceMs: number;
  /** End of the interval, exclusive; null: the code is still the driver's. */
  untilMs: number | null;
}

/** The plain fields of a driver. */
export const DRIVER_FIELDS = {
  name: { type: 'text', maxCharacters: 100, example: 'Anna Berg' },
  phone: { type: 'text', maxCharacters: 40, default: null, example: '+49 151 0000000' },
  licenceNumber: { type: 'text', maxCharacters: 40, default: null, example: 'B072RRE2I55' },
  licenceExpiresOn: {
    type: 'date',
    default: null,
    description: 'Last day on which the licence is valid. Null if it is not known.',
    example: '2027-05-31',
  },
} as const satisfies FieldTable;

export const DRIVER_DEFAULTS = defaultsOf(DRIVER_FIELDS);

/**
 * A driver. Personal data: events contain only codes, none of these fields. The plain fields are in
 * {@link DRIVER_FIELDS}.
 */
export interface Driver extends FieldValues<typeof DRIVER_FIELDS>, CustomFields {
  kind: 'driver';
  id: DriverId;
  version: number;
  /** The dealer that the driver belongs to; null: the operator. Codes are unique among the drivers of one dealer. */
  dealerId: UserId | null;
  /** Users of these groups may see the driver. */
  groupIds: readonly GroupId[];
  /** Present and past ones, in the order of `sinceMs`. */
  codes: readonly DriverCode[];
}

/** Manual assignment of a driver to a vehicle for an interval. It takes precedence over codes from the terminal. */
export interface DriverAssignment {
  id: DriverAssignmentId;
  vehicleId: VehicleId;
  driverId: DriverId;
  /** Unix milliseconds, inclusive. */
  fromMs: number;
  /** Exclusive; null: until further notice. */
  toMs: number | null;
}

/** Channel of the hub on which assignments of drivers to vehicles, and their ends, are published. */
export const DRIVER_ASSIGNMENT_CHANNEL = 'driver-assignment';

/** Longest accepted code. The longest that a terminal sends, a licence number from a tachograph, has 40 characters. */
export const MAX_DRIVER_CODE = 64;

/**
 * Normalises a code for comparison and storage: upper case, without the spaces, colons and dashes that are printed
 * between its digits. A value for "no card" (empty, only zeros, only F) becomes `''`.
 */
export function driverCodeOf(value: string | number | boolean): string {
  const text = String(value)
    .replace(/[\s:-]/g, '')
    .slice(0, MAX_DRIVER_CODE)
    .toUpperCase();
  return /^(0+|F{6,})$/.test(text) ? '' : text;
}

/** Whether the caller may see the driver. Same rules as for vehicles. */
export function maySeeDriver(caller: Caller, driver: Pick<Driver, 'dealerId' | 'groupIds'>): boolean {
  if (caller.blocked) return false;
  const account = limitedAccount(caller);
  if (account !== null && !maySeeDriver(account, driver)) return false;
  if (caller.role === 'operator') return true;
  if (caller.role === 'dealer') return driver.dealerId === caller.id;
  return driver.groupIds.some((groupId) => caller.groupIds.includes(groupId));
}

/**
 * The holder of a code at a moment. Where nobody held it yet, the first driver who ever held it, so that shifts from
 * before a driver was created are attributed to that driver.
 *
 * @param holders drivers of the vehicle's dealer that have or had the code
 */
export function holderOf(holders: readonly Driver[], code: string, atMs: number): Driver | undefined {
  let first: { driver: Driver; sinceMs: number } | undefined;
  for (const driver of holders)
    for (const held of driver.codes) {
      if (held.code !== code) continue;
      if (held.sinceMs <= atMs && (held.untilMs === null || atMs < held.untilMs)) return driver;
      if (first === undefined || held.sinceMs < first.sinceMs) first = { driver, sinceMs: held.sinceMs };
    }
  return first !== undefined && atMs < first.sinceMs ? first.driver : undefined;
}
