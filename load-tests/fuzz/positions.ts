import { isDeepStrictEqual } from 'node:util';
import { ALARMS, type Position, type ProtocolName, positionJson, type TerminalId } from '@outrider/domain';
import type { Random } from '@outrider/simulator';
import { telemetryTopic } from '../../packages/log/src/topics.ts';
import { loadVehicleId } from '../bench/drives.ts';
import { claim } from './target.ts';

const FIELDS =
  'fixTimeMs,latitude,longitude,valid,speedKmh,courseDeg,altitudeM,satellites,ignition,odometerM,supplyV,fuelL,alarms,attributes';
const VEHICLE = loadVehicleId(0);
const NOW_MS = Date.UTC(2026, 0, 1);

/** A position with anything in it that a terminal may report. */
export function somePosition(random: Random): Position {
  const perhaps = <T>(value: T): T | null => (random.next() < 0.3 ? null : value);
  const attributes: Record<string, number | string | boolean> = {};
  for (let i = 0; i < Math.floor(random.next() * 4); i++)
    attributes[random.pick(['io21', 'io200', 'adc1', 'hdop', 'rpm', 'input1', 'spn190', 'signal', 'batt', 'note'])] =
      Math.floor(random.next() * 300);
  return {
    fixTimeMs: Math.floor(random.between(Date.UTC(2024, 0, 1), NOW_MS) / 1000) * 1000,
    latitude: random.between(-90, 90),
    longitude: random.between(-180, 180),
    valid: random.next() < 0.9,
    speedKmh: perhaps(Math.floor(random.between(0, 200))),
    courseDeg: perhaps(Math.floor(random.between(0, 360))),
    altitudeM: perhaps(Math.floor(random.between(-400, 8000))),
    satellites: perhaps(Math.floor(random.between(0, 30))),
    ignition: perhaps(random.next() < 0.5),
    odometerM: perhaps(Math.floor(random.between(0, 2e9))),
    supplyV: perhaps(Math.floor(random.between(0, 60_000)) / 1000),
    fuelL: perhaps(Math.floor(random.between(0, 6000)) / 10),
    alarms: random.next() < 0.2 ? [random.pick(ALARMS)] : [],
    attributes: Object.keys(attributes).length === 0 ? null : attributes,
  };
}

/**
 * Holds what a decoder made of anything against what the rest of the road relies on: every field there and of its kind,
 * and the log gives back what was put into it.
 *
 * @throws {Broken} naming the field
 */
export function checkPositions(protocol: ProtocolName, terminalId: TerminalId, positions: readonly Position[]): void {
  for (const position of positions) checkPosition(position);
  if (positions.length === 0) return;
  const packet = { vehicleId: VEHICLE, terminalId, protocol, receivedAtMs: NOW_MS, positions: [...positions] };
  const written = Buffer.from(telemetryTopic.encode(packet));
  const read = telemetryTopic.decode(written);
  claim(
    read.positions.length === positions.length,
    () => `the log kept ${read.positions.length} of ${positions.length}`,
  );
  claim(read.terminalId.isWellFormed(), () => `the log keeps the id ${JSON.stringify(read.terminalId)}`);
  const again = Buffer.from(telemetryTopic.encode(read));
  claim(
    isDeepStrictEqual(telemetryTopic.decode(again), read),
    () => 'what the log gave back is kept as something else',
  );
  for (const position of read.positions) JSON.stringify(positionJson(VEHICLE, position));
}

function checkPosition(position: Position): void {
  claim(Object.keys(position).join() === FIELDS, () => `fields ${Object.keys(position).join()}`);
  const { fixTimeMs, latitude, longitude, valid, ignition, alarms, attributes } = position;
  claim(Number.isSafeInteger(fixTimeMs), () => `fixTimeMs is ${fixTimeMs}`);
  // What can't be shown as a time stops everybody who is to show it.
  claim(!Number.isNaN(new Date(fixTimeMs).getTime()), () => `fixTimeMs ${fixTimeMs} is beyond what a Date holds`);
  claim(Number.isFinite(latitude) && Number.isFinite(longitude), () => `place ${latitude}, ${longitude}`);
  claim(typeof valid === 'boolean', () => `valid is ${valid}`);
  claim(ignition === null || typeof ignition === 'boolean', () => `ignition is ${ignition}`);
  for (const name of ['speedKmh', 'courseDeg', 'altitudeM', 'satellites', 'odometerM', 'supplyV', 'fuelL'] as const) {
    const value = position[name];
    claim(value === null || Number.isFinite(value), () => `${name} is ${value}`);
  }
  const { courseDeg } = position;
  claim(courseDeg === null || (courseDeg >= 0 && courseDeg < 360), () => `courseDeg is ${courseDeg}`);
  for (const alarm of alarms) claim(ALARMS.includes(alarm), () => `alarm ${alarm}`);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    claim(['number', 'string', 'boolean'].includes(typeof value), () => `attribute ${name} is ${typeof value}`);
    claim(typeof value !== 'number' || Number.isFinite(value), () => `attribute ${name} is ${value}`);
  }
}
