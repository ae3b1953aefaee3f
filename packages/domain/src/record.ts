import { ALARMS, type Alarm, type Position } from './position.ts';
import { hasPlace } from './quality.ts';

/** Below this voltage the terminal has no external supply; the supply of any vehicle is far above it. */
export const NO_SUPPLY_V = 1;
/** From this voltage on there is a supply, whatever the vehicle. Voltages in between are inconclusive. */
export const SUPPLY_V = 5;

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
/** Size limit of the cache: protocols have some hundred names, but terminals may send arbitrary ones. */
const MAX_NAMES = 4096;
const names = new Map<string, number>();

/**
 * Hash of what a record states beside its place and measured values: whether it has a place and a valid fix, its
 * alarms, ignition and supply, and the names of its attributes with the values of on/off switches. Two records of one
 * vehicle and fix time with equal marks are duplicates; with different marks they are separate records (semantics,
 * "Positions").
 *
 * Measured values are left out, so that nearly all records of a vehicle have the same mark. The archive has the mark in
 * its key.
 *
 * @returns an unsigned 32-bit integer, never 0: in the archive 0 stands for records from before marks existed
 */
export function recordMark(record: Position): number {
  const { valid, ignition, supplyV, alarms, attributes } = record;
  let mark = beginMark(valid, hasPlace(record), ignition, supplyV, alarmBits(alarms));
  if (attributes !== null)
    for (const name in attributes) mark = markValue(markName(mark, nameHash(name)), attributes[name]);
  return endMark(mark);
}

/**
 * Begins the {@link recordMark} of a record that is not an object. {@link markName} and {@link markValue}
 * follow for each attribute in order, then {@link endMark}.
 *
 * @param alarms the bits of its alarms, see {@link alarmBit}
 */
export function beginMark(
  valid: boolean,
  isPlaced: boolean,
  ignition: boolean | null,
  supplyV: number | null,
  alarms: number,
): number {
  let hash = OFFSET_BASIS;
  hash = Math.imul(hash ^ (valid ? 1 : 0) ^ (isPlaced ? 2 : 0), PRIME);
  hash = Math.imul(hash ^ (ignition === null ? 2 : ignition ? 1 : 0), PRIME);
  hash = Math.imul(hash ^ supplyClass(supplyV), PRIME);
  return Math.imul(hash ^ alarms, PRIME);
}

/** @param name its {@link nameHash} */
export function markName(mark: number, name: number): number {
  return Math.imul(mark ^ name, PRIME);
}

/** Adds an attribute's value, after its name. Only the values of on/off switches count. */
export function markValue(mark: number, value: unknown): number {
  if (value === true || value === 1) return Math.imul(mark ^ 1, PRIME);
  if (value === false || value === 0) return Math.imul(mark ^ 2, PRIME);
  return mark;
}

export function endMark(mark: number): number {
  return mark >>> 0 || 1;
}

function supplyClass(supplyV: number | null): number {
  if (supplyV === null) return 0;
  return supplyV < NO_SUPPLY_V ? 1 : supplyV < SUPPLY_V ? 2 : 3;
}

function alarmBits(alarms: readonly Alarm[]): number {
  let bits = 0;
  for (let i = 0; i < alarms.length; i++) bits |= alarmBit(alarms[i] as Alarm);
  return bits;
}

export function alarmBit(alarm: Alarm): number {
  return 1 << ALARMS.indexOf(alarm);
}

/** Hash of a name's UTF-16 units; for ASCII these are its bytes, see {@link asciiNameHash}. */
export function nameHash(name: string): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  let hash = OFFSET_BASIS;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), PRIME);
  if (names.size < MAX_NAMES) names.set(name, hash);
  return hash;
}

/** {@link nameHash} of an ASCII name, computed from its bytes. */
export function asciiNameHash(source: Uint8Array, from: number, to: number): number {
  let hash = OFFSET_BASIS;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (source[i] ?? 0), PRIME);
  return hash;
}
