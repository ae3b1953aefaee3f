import type { Position } from '@outrider/domain';
import type { Driver } from './driver.ts';
import type { DemoVehicle } from './scenario.ts';

/** A driver of the demo. */
export interface DemoPerson {
  name: string;
  /** The code printed on the key; null where the driver has no key and is assigned manually. */
  code: string | null;
  phone: string;
  licenceNumber: string;
  /** Days of validity from today; negative where it has expired. */
  licenceDays: number;
  /** Name of the vehicle that the driver is assigned to manually. */
  assignedTo: string | null;
}

type Row = [name: string, code: string | null, licenceDays: number];

const ROWS: readonly Row[] = [
  ['Anna Berg', '01A3F2190B0000C1', 1420],
  ['Boris Novak', '0152C80D77000034', 12],
  ['Carmen Ruiz', '01E019B4020000A7', 905],
  ['David Levi', '017733F10C000052', 2210],
  ['Elena Popova', '01C4A80E610000F9', -3],
  ['Farid Haddad', '019B27D5330000E0', 640],
  ['Greta Lindqvist', '0108F6EE14000071', 1730],
  ['Hugo Martin', '01DD5A02980000BC', 310],
  ['Irina Sokolova', '01645B31AF000018', 1095],
  ['Jonas Weber', '01F9178C2600009D', 480],
  ['Katya Orlova', '012E6FA04D0000D6', 28],
  ['Liam Byrne', '01B08374E500004B', 1960],
  ['Marta Silva', null, 730],
];

/**
 * Drivers of the demo fleet. Boris takes over Van 01 once Anna has left it; the key of Shuttle 02 belongs to no driver.
 */
export const DEMO_PEOPLE: readonly DemoPerson[] = ROWS.map(([name, code, licenceDays], nth) => ({
  ...{ name, code, licenceDays },
  phone: `+49 151 ${String(5_550_100 + nth * 37)}`,
  licenceNumber: `B${String(72_310 + nth * 911)}RRE${nth}`,
  assignedTo: code === null ? 'Bus with cameras' : null,
}));

const UNKNOWN_KEY = '015ECA9A470000D2';
/** Keys by vehicle, in the order of their use. Only terminals that can send a key have a reader. */
const KEYS: Readonly<Record<string, readonly string[]>> = Object.fromEntries([
  ['Van 01', keysOf('Anna Berg', 'Boris Novak')],
  ['Van 02', keysOf('Carmen Ruiz')],
  ['Van 03', keysOf('David Levi')],
  ['Van 04', keysOf('Elena Popova')],
  ['Van 05', keysOf('Farid Haddad', 'Greta Lindqvist')],
  ['Van 06', keysOf('Hugo Martin')],
  ['Van 07', keysOf('Irina Sokolova')],
  ['Shuttle 01', keysOf('Jonas Weber', 'Katya Orlova')],
  ['Shuttle 02', [UNKNOWN_KEY]],
  ['Shuttle 03', keysOf('Liam Byrne')],
]);
/** On past days, the second driver takes over at noon. */
const NOON_HOUR = 12;

function keysOf(...names: string[]): string[] {
  return ROWS.flatMap(([name, code]) => (code !== null && names.includes(name) ? [code] : []));
}

/**
 * Adds the driver's key to the records of a drive while the ignition is on.
 *
 * @param takesOverMs Unix milliseconds at which the afternoon's driver takes over from the morning's; on earlier days,
 *   at noon
 */
export function withKeys(driver: Driver, { profile, protocol }: DemoVehicle, takesOverMs: number): Driver {
  const keys = KEYS[profile.name];
  if (keys === undefined) return driver;
  const today = new Date(takesOverMs).setHours(0, 0, 0, 0);
  return {
    state: () => driver.state(),
    advanceTo(timeMs) {
      const positions = driver.advanceTo(timeMs);
      for (const position of positions) {
        const { fixTimeMs, ignition } = position;
        if (ignition !== true) continue;
        const isSecond = fixTimeMs < today ? new Date(fixTimeMs).getHours() >= NOON_HOUR : fixTimeMs >= takesOverMs;
        const key = (isSecond ? keys.at(-1) : keys[0]) as string;
        position.attributes = { ...position.attributes, ...attributesOf(key, protocol) };
      }
      return positions;
    },
  };
}

/** The common attribute, and the attribute that the terminal's protocol sends. */
function attributesOf(key: string, protocol: DemoVehicle['protocol']): NonNullable<Position['attributes']> {
  if (protocol === 'wialon-ips') return { driverCode: key, ibutton: key };
  const bytes = Buffer.from(key, 'hex').reverse();
  return { driverCode: key, io78: bytes.readBigUInt64BE().toString() };
}
