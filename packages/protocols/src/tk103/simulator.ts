import type { Position, TerminalId } from '@outrider/domain';
import { textOfUtc } from '../calendar.ts';
import { nmeaOfDegrees } from '../degrees.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { onlyPosition } from '../simulator-input.ts';
import { ALARM_CODES } from './message.ts';

const U32 = 0xffffffff;
const HANDSHAKE = 'BP00';
const CODE_OF = new Map(ALARM_CODES.map(([code, alarm]) => [alarm, code]));

/**
 * A TK103 terminal. It sends a handshake after each place; the answer to the handshake means that the place is durable.
 * What the protocol can't carry: fractions of a second and of 0.1 km/h, an unknown ignition, altitude, satellites,
 * supply, fuel, attributes, more than one alarm, and kinds other than crash, SOS, overspeed, power cut and other.
 *
 * @throws {TypeError} when the terminal's id is not 12 digits
 */
export const createTk103Simulator: CreateSimulator = (terminalId) => new Tk103Simulator(terminalId);

class Tk103Simulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly #terminalId: TerminalId;
  #received = '';

  constructor(terminalId: TerminalId) {
    if (!/^\d{12}$/.test(terminalId)) throw new TypeError(`a TK103 terminal's id has 12 digits: ${terminalId}`);
    this.#terminalId = terminalId;
  }

  /** No login: each message names the terminal. */
  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, speedKmh, courseDeg, ignition, odometerM, alarms } = position;
    const [date, time] = textOfUtc(position.fixTimeMs);
    const code = alarms.map((alarm) => CODE_OF.get(alarm)).find((one) => one !== undefined);
    const place = [
      date,
      valid ? 'A' : 'V',
      ...nmeaOfDegrees(latitude, 'latitude'),
      ...nmeaOfDegrees(longitude, 'longitude'),
      Math.min(speedKmh ?? 0, 999.9)
        .toFixed(1)
        .padStart(5, '0'),
      time,
      (courseDeg ?? 0).toFixed(2).padStart(6, '0'),
      `0${ignition ? 1 : 0}000000`,
      odometerM === null ? '' : `L${clampRound(odometerM, 0, U32).toString(16).toUpperCase().padStart(8, '0')}`,
    ].join('');
    const message = code === undefined ? `BR00${place}` : `BO01${code}${place}`;
    return Buffer.from(`(${this.#terminalId}${message})(${this.#terminalId}${HANDSHAKE}HSO)`, 'latin1');
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const lines = (this.#received + chunk.toString('latin1')).split(')');
    this.#received = lines.pop() ?? '';
    return lines.filter((line) => line.endsWith('AP01HSO')).map(() => ({ type: 'ack' }));
  }
}
