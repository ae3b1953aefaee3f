import type { Position, TerminalId } from '@outrider/domain';
import { textOfUtc } from '../calendar.ts';
import { KMH_PER_KNOT, nmeaOfDegrees } from '../degrees.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { onlyPosition } from '../simulator-input.ts';
import { BINARY_MARK, FLAG } from './binary.ts';
import { STATUS_BIT } from './message.ts';

const MAX_KMH = 1000;

/**
 * An H02 terminal. What the protocol can't carry: fractions of a second, an unknown ignition or speed, altitude,
 * satellites, odometer, supply and fuel, attributes, alarms other than `sos`, `overspeed`, `power-cut` and `other`.
 *
 * @throws {TypeError} when the terminal's id is not 8 to 17 digits
 */
export const createH02Simulator: CreateSimulator = (terminalId) => new H02Simulator(terminalId);

class H02Simulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly #terminalId: TerminalId;
  #received = '';

  constructor(terminalId: TerminalId) {
    if (!/^\d{8,17}$/.test(terminalId)) throw new TypeError(`an H02 terminal's id is digits: ${terminalId}`);
    this.#terminalId = terminalId;
  }

  /** No login: each line names the terminal. */
  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, speedKmh, courseDeg } = position;
    const [date, time] = textOfUtc(position.fixTimeMs, 'DDMMYY');
    const fields = [
      `*HQ,${this.#terminalId},V1,${time}`,
      valid ? 'A' : 'V',
      ...nmeaOfDegrees(latitude, 'latitude'),
      ...nmeaOfDegrees(longitude, 'longitude'),
      (Math.min(speedKmh ?? 0, MAX_KMH) / KMH_PER_KNOT).toFixed(2),
      courseDeg ?? '',
      date,
      statusOf(position),
    ];
    return Buffer.from(`${fields.join(',')}#`, 'latin1');
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const lines = (this.#received + chunk.toString('latin1')).split('#');
    this.#received = lines.pop() ?? '';
    return lines.map((line) => (line.includes(',V4,V1,') ? { type: 'ack' } : { type: 'refused', detail: line }));
  }
}

/**
 * An H02 terminal configured for the binary form, which carries whole knots only. Its terminal id has ten digits.
 *
 * @throws {TypeError} when the terminal's id is not 10 digits
 */
export const createH02BinarySimulator: CreateSimulator = (terminalId) => {
  if (!/^\d{10}$/.test(terminalId)) throw new TypeError(`a binary H02 terminal's id is 10 digits: ${terminalId}`);
  return {
    maxPositionsPerPacket: 1,
    isUnacknowledged: true,
    hello: () => null,
    encode: (positions) => encodeBinary(terminalId, onlyPosition(positions)),
    receive: (chunk) => [{ type: 'refused', detail: chunk.toString('latin1') }],
  };
};

function encodeBinary(terminalId: TerminalId, position: Position): Buffer {
  const [date, time] = textOfUtc(position.fixTimeMs, 'DDMMYY');
  const [lat, northSouth] = nmeaOfDegrees(position.latitude, 'latitude');
  const [lon, eastWest] = nmeaOfDegrees(position.longitude, 'longitude');
  const flags =
    (position.valid ? FLAG.valid : 0) | (northSouth === 'N' ? FLAG.north : 0) | (eastWest === 'E' ? FLAG.east : 0);
  const knots = Math.round(Math.min(position.speedKmh ?? 0, MAX_KMH) / KMH_PER_KNOT);
  const digits = [
    BINARY_MARK.toString(16),
    terminalId,
    time,
    date,
    lat.replace('.', ''),
    '00',
    lon.replace('.', ''),
    flags.toString(16),
    String(knots).padStart(3, '0'),
    String(position.courseDeg ?? 0).padStart(3, '0'),
    statusOf(position),
    '000000',
  ];
  return Buffer.from(digits.join(''), 'hex');
}

function statusOf({ ignition, alarms }: Position): string {
  let bits = 0xffffffff;
  const clear = (bit: number) => {
    bits &= ~(1 << bit);
  };
  if (!ignition) clear(STATUS_BIT.ignitionOff);
  if (alarms.includes('sos')) clear(STATUS_BIT.sos);
  if (alarms.includes('overspeed')) clear(STATUS_BIT.overspeed);
  if (alarms.includes('power-cut')) clear(STATUS_BIT.powerCut);
  if (alarms.includes('other')) clear(STATUS_BIT.shock);
  return (bits >>> 0).toString(16).toUpperCase().padStart(8, '0');
}
