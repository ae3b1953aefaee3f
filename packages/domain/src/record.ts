import { ALARMS, type Alarm, type Position } from './position.ts';
import { hasPlace } from './quality.ts';

/** Below this a terminal measures no supply at all; what a vehicle runs on is far above it. */
export const NO_SUPPLY_V = 1;
/** From here on there is one, of whatever vehicle. Between the two nothing is said. */
export const SUPPLY_V = 5;

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
/** Protocols have some hundred names; what else is sent is not remembered without end. */
const MAX_NAMES = 4096;
const names = new Map<string, number>();

/**
 * What a record says beside its place and its measures: whether it has a place and its fix is valid, its alarms,
 * ignition and supply, and which attributes it has, the switches among them with their position. Of two records of one
 * vehicle and fix time, the second is a repeat where this is the same, and a record of its own where it is not
 * (semantics, "Positions").
 *
 * Measures are left out, so that nearly all records of a vehicle have the same mark: the archive has it in its key.
 *
 * @returns a whole number of 32 bits, never 0: that is what the archive has of records from before there were marks
 */
export function recordMark(record: Position): number {
  const { valid, ignition, supplyV, alarms, attributes } = record;
  let hash = OFFSET_BASIS;
  hash = Math.imul(hash ^ (valid ? 1 : 0) ^ (hasPlace(record) ? 2 : 0), PRIME);
  hash = Math.imul(hash ^ (ignition === null ? 2 : ignition ? 1 : 0), PRIME);
  hash = Math.imul(hash ^ supplyClass(supplyV), PRIME);
  hash = Math.imul(hash ^ alarmBits(alarms), PRIME);
  if (attributes !== null)
    for (const name in attributes) {
      hash = Math.imul(hash ^ nameHash(name), PRIME);
      const value = attributes[name];
      if (value === true || value === 1) hash = Math.imul(hash ^ 1, PRIME);
      else if (value === false || value === 0) hash = Math.imul(hash ^ 2, PRIME);
    }
  return hash >>> 0 || 1;
}

function supplyClass(supplyV: number | null): number {
  if (supplyV === null) return 0;
  return supplyV < NO_SUPPLY_V ? 1 : supplyV < SUPPLY_V ? 2 : 3;
}

function alarmBits(alarms: readonly Alarm[]): number {
  let bits = 0;
  for (let i = 0; i < alarms.length; i++) bits |= 1 << ALARMS.indexOf(alarms[i] as Alarm);
  return bits;
}

function nameHash(name: string): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  let hash = OFFSET_BASIS;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), PRIME);
  if (names.size < MAX_NAMES) names.set(name, hash);
  return hash;
}
