import type { DriverAssignmentId, DriverId, GroupId, UserId, VehicleId } from '../ids.ts';
import type { Caller } from '../rights.ts';
import { limitedAccount } from './api-key.ts';
import type { CustomFields } from './custom-fields.ts';
import { defaultsOf, type FieldTable, type FieldValues } from './fields.ts';

/** A code that a driver has or had: a card, a key, a tag. */
export interface DriverCode {
  /** As {@link driverCodeOf} writes it. */
  code: string;
  /** Unix milliseconds from which on the code is this driver's. */
  sinceMs: number;
  /** Until when, exclusive; null: it still is. */
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
    description: 'The last day on which the licence is valid.',
    example: '2027-05-31',
  },
} as const satisfies FieldTable;

export const DRIVER_DEFAULTS = defaultsOf(DRIVER_FIELDS);

/**
 * Somebody who drives. Personal data: nothing of it is in events, which name codes. Its plain fields are in
 * {@link DRIVER_FIELDS}.
 */
export interface Driver extends FieldValues<typeof DRIVER_FIELDS>, CustomFields {
  kind: 'driver';
  id: DriverId;
  version: number;
  /** The dealer that the driver belongs to; null when the operator's own. Codes are unique among the drivers of one. */
  dealerId: UserId | null;
  /** Users of these groups may see the driver. */
  groupIds: readonly GroupId[];
  /** Present and past ones, in the order of `sinceMs`. */
  codes: readonly DriverCode[];
}

/** Somebody said who drives a vehicle, for an interval. It counts whatever codes the terminal sends. */
export interface DriverAssignment {
  id: DriverAssignmentId;
  vehicleId: VehicleId;
  driverId: DriverId;
  /** Unix milliseconds, inclusive. */
  fromMs: number;
  /** Exclusive; null: until further notice. */
  toMs: number | null;
}

/** Channel of the hub on which it is published that somebody was assigned to a vehicle, or is no longer. */
export const DRIVER_ASSIGNMENT_CHANNEL = 'driver-assignment';

/** Longest code that is taken; the longest that a terminal sends (a licence number of a tachograph) has 40. */
export const MAX_DRIVER_CODE = 64;

/**
 * A code in the form in which codes are compared and kept: in upper case, without the spaces, colons and dashes that
 * are printed between its digits. What says that no card is there (nothing, zeros alone, F alone) is `''`.
 */
export function driverCodeOf(value: string | number | boolean): string {
  const text = String(value)
    .replace(/[\s:-]/g, '')
    .slice(0, MAX_DRIVER_CODE)
    .toUpperCase();
  return /^(0+|F{6,})$/.test(text) ? '' : text;
}

/** May the caller see the driver? As for vehicles. */
export function maySeeDriver(caller: Caller, driver: Pick<Driver, 'dealerId' | 'groupIds'>): boolean {
  if (caller.blocked) return false;
  const account = limitedAccount(caller);
  if (account !== null && !maySeeDriver(account, driver)) return false;
  if (caller.role === 'operator') return true;
  if (caller.role === 'dealer') return driver.dealerId === caller.id;
  return driver.groupIds.some((groupId) => caller.groupIds.includes(groupId));
}

/**
 * Who holds a code at a moment: who held it then; where nobody did yet, the first who ever held it, so that shifts from
 * before a driver was created are the driver's.
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
