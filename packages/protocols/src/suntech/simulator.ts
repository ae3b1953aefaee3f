import type { Alarm, Position, TerminalId } from '@outrider/domain';
import { textOfUtc } from '../calendar.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { onlyPosition } from '../simulator-input.ts';
import { ALERTS, EMERGENCIES } from './message.ts';

const CODES = new Map<Alarm, { kind: string; code: string }>([
  ...ALERTS.toReversed().map(([code, alarm]) => [alarm, { kind: 'ALT', code }] as const),
  ...EMERGENCIES.toReversed().map(([code, alarm]) => [alarm, { kind: 'EMG', code }] as const),
]);
/** Kind and mode of a regular report: idle or driving, instead of a code. */
const MODE = { kind: 'STT', code: '1' } as const;
const MODEL_AND_VERSION = '04;706';
const CELL = '00100';

/**
 * A Suntech terminal. What the protocol can't carry: fractions of a second, altitude, litres of fuel, an unknown
 * ignition, attributes, more than one alarm, cornering and jamming.
 *
 * @throws {TypeError} when the terminal's id is not 6 to 15 digits
 */
export const createSuntechSimulator: CreateSimulator = (terminalId) => new SuntechSimulator(terminalId);

class SuntechSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly isUnacknowledged = true;
  readonly #terminalId: TerminalId;

  constructor(terminalId: TerminalId) {
    if (!/^\d{6,15}$/.test(terminalId)) throw new TypeError(`a Suntech terminal's id is digits: ${terminalId}`);
    this.#terminalId = terminalId;
  }

  /** No login: each line names the terminal. */
  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, speedKmh, courseDeg, satellites, odometerM, supplyV, ignition } = position;
    const { kind, code } = position.alarms.map((alarm) => CODES.get(alarm)).find((one) => one !== undefined) ?? MODE;
    const [date, time] = textOfUtc(position.fixTimeMs, 'YYYYMMDD');
    const fields = [
      `ST300${kind}`,
      this.#terminalId,
      MODEL_AND_VERSION,
      date,
      time.replace(/(..)(..)(..)/, '$1:$2:$3'),
      CELL,
      signed(latitude),
      signed(longitude),
      speedKmh === null ? '' : speedKmh.toFixed(3),
      courseDeg === null ? '' : courseDeg.toFixed(2),
      satellites ?? '',
      valid ? 1 : 0,
      odometerM ?? '',
      supplyV === null ? '' : supplyV.toFixed(2),
      `${ignition ? 1 : 0}00000`,
      code,
    ];
    return Buffer.from(`${fields.join(';')}\r`, 'latin1');
  }

  receive(): SimulatorReply[] {
    return [];
  }
}

function signed(degrees: number): string {
  return `${degrees < 0 ? '-' : '+'}${Math.abs(degrees).toFixed(6)}`;
}
