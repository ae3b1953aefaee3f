import type { AttributeValue, Position, TerminalId } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { PARAM, UNKNOWN } from './message.ts';

const MAX_POSITIONS = 100;
/** A server's answer is a few characters; longer input without a line end is not an answer. */
const MAX_ANSWER_LENGTH = 1024;

/**
 * A terminal that speaks Wialon IPS 2.0: one position in an extended message, several in a black box. What the protocol
 * can't carry: fractions of a second and of km/h; the place of a fix that is not valid; alarms other than `sos`;
 * attributes whose name or text has one of the separators in it. `true` and `false` arrive as 1 and 0.
 *
 * @throws {TypeError} when the terminal's id has a character that a login can't carry
 */
export const createWialonIpsSimulator: CreateSimulator = (terminalId) => new WialonIpsSimulator(terminalId, true);

/** A terminal that speaks Wialon IPS 1.1, which has no checksums. */
export const createWialonIps11Simulator: CreateSimulator = (terminalId) => new WialonIpsSimulator(terminalId, false);

/**
 * The sending side of a platform that forwards one terminal by Wialon IPS 2.0, over a connection of its own.
 *
 * @param password that the receiving platform requires of terminals; null where it requires none
 * @throws {TypeError} when the terminal's id has a character that a login can't carry
 */
export function createWialonIpsSender(terminalId: TerminalId, password: string | null): TerminalSimulator {
  return new WialonIpsSimulator(terminalId, true, password);
}

class WialonIpsSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #terminalId: TerminalId;
  readonly #checksums: boolean;
  readonly #password: string;
  #received = '';
  /** Expected answers of the packets without an acknowledgement. */
  #expected: string[] = [];

  constructor(terminalId: TerminalId, checksums: boolean, password: string | null = null) {
    if (!/^[\w.:@/+-]{1,64}$/.test(terminalId)) throw new TypeError(`a login can't carry the id ${terminalId}`);
    this.#terminalId = terminalId;
    this.#checksums = checksums;
    this.#password = password ?? UNKNOWN;
  }

  hello(): Buffer {
    return this.#checksums
      ? this.#line('L', `2.0;${this.#terminalId};${this.#password}`, ';')
      : this.#line('L', `${this.#terminalId};${this.#password}`, ';');
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const messages = positions.map(messageOf);
    const [only] = messages;
    if (only !== undefined && messages.length === 1) {
      this.#expected.push('#AD#1');
      return this.#line('D', only, ';');
    }
    this.#expected.push(`#AB#${messages.length}`);
    return this.#line('B', messages.join('|'), '|');
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const lines = `${this.#received}${chunk.toString('latin1')}`.split('\r\n');
    this.#received = (lines.pop() ?? '').slice(0, MAX_ANSWER_LENGTH);
    return lines.map((line): SimulatorReply => {
      if (line.startsWith('#AL#'))
        return line === '#AL#1' ? { type: 'welcome' } : { type: 'refused', detail: `the login was answered ${line}` };
      if (line.startsWith('#M#'))
        return { type: 'command', text: line.slice(3), answer: (isDone) => Buffer.from(`#AM#${isDone ? 1 : 0}\r\n`) };
      const expected = this.#expected.shift();
      return line === expected
        ? { type: 'ack' }
        : { type: 'refused', detail: `${line} where ${expected ?? 'nothing'} was expected` };
    });
  }

  #line(type: string, body: string, separator: string): Buffer {
    if (!this.#checksums) return Buffer.from(`#${type}#${body}\r\n`);
    const covered = Buffer.from(`${body}${separator}`);
    const checksum = crc16Arc(covered, 0, covered.length).toString(16).toUpperCase();
    return Buffer.from(`#${type}#${body}${separator}${checksum}\r\n`);
  }
}

/** Encodes one extended message. */
function messageOf(position: Position): string {
  const time = new Date(position.fixTimeMs).toISOString();
  const whole = (value: number | null) => (value === null ? UNKNOWN : String(Math.round(value) + 0));
  const attributes = position.attributes ?? {};
  const number = (name: string) => (typeof attributes[name] === 'number' ? String(attributes[name]) : UNKNOWN);

  const analog: string[] = [];
  for (let input = 1; typeof attributes[`adc${input}`] === 'number'; input++)
    analog.push(String(attributes[`adc${input}`]));
  const { ibutton } = attributes;

  const params: string[] = [];
  if (position.alarms.includes('sos')) params.push(`${PARAM.sos}:1:1`);
  if (position.ignition !== null) params.push(`${PARAM.ignition}:1:${position.ignition ? 1 : 0}`);
  if (position.supplyV !== null) params.push(`${PARAM.supply}:2:${position.supplyV}`);
  if (position.odometerM !== null) params.push(`${PARAM.odometer}:1:${Math.round(position.odometerM)}`);
  if (position.fuelL !== null) params.push(`${PARAM.fuel}:2:${position.fuelL}`);
  for (const [name, value] of Object.entries(attributes)) {
    if (/^(hdop|inputs|outputs|ibutton)$/.test(name) || (/^adc\d+$/.test(name) && typeof value === 'number')) continue;
    const param = paramOf(name, value);
    if (param !== null) params.push(param);
  }

  return [
    `${time.slice(8, 10)}${time.slice(5, 7)}${time.slice(2, 4)}`,
    `${time.slice(11, 13)}${time.slice(14, 16)}${time.slice(17, 19)}`,
    ...(position.valid
      ? [...degreesOf(position.latitude, 2, 'N', 'S'), ...degreesOf(position.longitude, 3, 'E', 'W')]
      : [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]),
    whole(position.speedKmh),
    whole(position.courseDeg),
    whole(position.altitudeM),
    whole(position.satellites),
    number('hdop'),
    number('inputs'),
    number('outputs'),
    analog.join(),
    typeof ibutton === 'string' && isPlain(ibutton) ? ibutton : UNKNOWN,
    params.join(),
  ].join(';');
}

/** Degrees and minutes combined in one number, precise enough for steps of 1e-7 degrees. */
function degreesOf(degrees: number, digits: number, positive: string, negative: string): [string, string] {
  const steps = clampRound(Math.abs(degrees) * 1e7, 0, 1_800_000_000);
  const whole = Math.floor(steps / 1e7);
  const minutes = ((steps - whole * 1e7) * 60) / 1e7;
  const text = `${String(whole).padStart(digits, '0')}${minutes.toFixed(6).padStart(9, '0')}`;
  return [text, degrees < 0 ? negative : positive];
}

function paramOf(name: string, value: AttributeValue): string | null {
  if (!isPlain(name) || name.includes(':') || name.length > 64) return null;
  if (typeof value === 'boolean') return `${name}:1:${value ? 1 : 0}`;
  if (typeof value === 'string') return isPlain(value) ? `${name}:3:${value}` : null;
  if (!Number.isFinite(value)) return null;
  return Number.isSafeInteger(value) ? `${name}:1:${value}` : `${name}:2:${value}`;
}

/** Whether the text is free of separators of parameters, fields, messages and lines. */
function isPlain(text: string): boolean {
  return text !== '' && text !== UNKNOWN && !/[,;|#\r\n]/.test(text);
}
