import type { Position, TerminalId } from '@outrider/domain';
import { textOfUtc } from '../calendar.ts';
import { KMH_PER_KNOT, nmeaOfDegrees } from '../degrees.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { onlyPosition, requireImei } from '../simulator-input.ts';
import { ALARM_KEYWORDS } from './message.ts';

const MAX_KMH = 1000;
const KEYWORD_OF = new Map(ALARM_KEYWORDS.toReversed().map(([keyword, alarm]) => [alarm, keyword]));

/**
 * A GPS103 terminal whose clock shows UTC. It sends a heartbeat after each report; the answer to the heartbeat means
 * that the report is durable. What the protocol can't carry: fractions of a second, satellites, odometer, supply,
 * litres of fuel, attributes, more than one alarm, kinds of harsh driving and jamming.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createGps103Simulator: CreateSimulator = (terminalId) => new Gps103Simulator(terminalId);

class Gps103Simulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly #imei: TerminalId;
  #received = '';

  constructor(terminalId: TerminalId) {
    requireImei(terminalId);
    this.#imei = terminalId;
  }

  hello(): Buffer {
    return Buffer.from(`##,imei:${this.#imei},A;`, 'latin1');
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, speedKmh, courseDeg, altitudeM, ignition, alarms } = position;
    const [date, time] = textOfUtc(position.fixTimeMs);
    const keyword = alarms.map((alarm) => KEYWORD_OF.get(alarm)).find((one) => one !== undefined) ?? 'tracker';
    const fields = [
      `imei:${this.#imei}`,
      keyword,
      `${date}${time}`,
      '',
      'F',
      `${time}.000`,
      valid ? 'A' : 'V',
      ...nmeaOfDegrees(latitude, 'latitude'),
      ...nmeaOfDegrees(longitude, 'longitude'),
      (Math.min(speedKmh ?? 0, MAX_KMH) / KMH_PER_KNOT).toFixed(2),
      courseDeg ?? '',
      altitudeM ?? '',
      ignition === null ? '' : ignition ? '1' : '0',
    ];
    return Buffer.from(`${fields.join(',')};${this.#imei};`, 'latin1');
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const replies: SimulatorReply[] = [];
    this.#received += chunk.toString('latin1');
    for (let found = this.#next(); found !== null; found = this.#next()) {
      if (found === 'LOAD') replies.push({ type: 'welcome' });
      else if (found === 'ON') replies.push({ type: 'ack' });
    }
    return replies;
  }

  /** The oldest complete answer. A pattern is needed because answers share no terminator. */
  #next(): string | null {
    const [found] = /^(?:LOAD|ON|\*\*[^;]*;)/.exec(this.#received) ?? [];
    if (found === undefined) return null;
    this.#received = this.#received.slice(found.length);
    return found;
  }
}
