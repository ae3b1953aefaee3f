import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { textOfUtc } from '../calendar.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { onlyPosition, requireImei } from '../simulator-input.ts';
import { CCE_HEAD_BYTES, EPOCH_S, PARAMETER } from './binary.ts';
import { ALARM_EVENTS, EVENT_TRACK } from './events.ts';
import { buildPacket } from './session.ts';

const EVENT_OF = new Map(ALARM_EVENTS.toReversed().map(([code, alarm]) => [alarm, code]));
const FIRST_LETTER = 0x41;
const LETTERS = 26;

/**
 * A Meitrack terminal. What the protocol can't carry: fractions of a second and of a km/h, the ignition, litres of
 * fuel, attributes, more than one alarm, cornering and `other`.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createMeitrackSimulator: CreateSimulator = (terminalId) => new MeitrackSimulator(terminalId);

class MeitrackSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly #imei: TerminalId;
  #packets = 0;
  #received = '';

  constructor(terminalId: TerminalId) {
    requireImei(terminalId);
    this.#imei = terminalId;
  }

  /** No login: each packet names the terminal. */
  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, satellites, speedKmh, courseDeg, altitudeM, odometerM, supplyV } = position;
    const supply =
      supplyV === null
        ? ''
        : clampRound(supplyV * 100, 0, 0xffff)
            .toString(16)
            .toUpperCase()
            .padStart(4, '0');
    const content = [
      'AAA',
      eventOf(position),
      latitude.toFixed(6),
      longitude.toFixed(6),
      textOfUtc(position.fixTimeMs).join(''),
      valid ? 'A' : 'V',
      satellites ?? '',
      '',
      speedKmh === null ? '' : Math.round(speedKmh),
      courseDeg ?? '',
      '',
      altitudeM ?? '',
      odometerM ?? '',
      '',
      '',
      '',
      `||||${supply}`,
    ];
    return this.packet(content.join(','));
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const lines = (this.#received + chunk.toString('latin1')).split('\r\n');
    this.#received = lines.pop() ?? '';
    return lines.map((line) => (/,(AFF|CCE),1\*/.test(line) ? { type: 'ack' } : { type: 'refused', detail: line }));
  }

  /** Builds a packet; its letter counts the packets. */
  protected packet(content: string): Buffer {
    this.#packets += 1;
    const letter = String.fromCharCode(FIRST_LETTER + (this.#packets % LETTERS));
    return buildPacket('$$', letter, `${this.#imei},${content}`);
  }
}

/** A Meitrack terminal configured for the binary data format `CCE`. */
export const createMeitrackBinarySimulator: CreateSimulator = (terminalId) => new MeitrackBinarySimulator(terminalId);

class MeitrackBinarySimulator extends MeitrackSimulator {
  override encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, satellites, speedKmh, courseDeg, altitudeM, odometerM, supplyV } = position;
    const record = new ByteWriter().u16le(0).u16le(0);
    const group = (width: 1 | 2 | 4, values: readonly (readonly [id: number, value: number | null])[]) => {
      const known = values.filter((one): one is readonly [number, number] => one[1] !== null);
      record.u8(known.length);
      for (const [id, value] of known) {
        record.u8(id);
        if (width === 1) record.u8(value);
        else if (width === 2) record.u16le(value & 0xffff);
        else record.u32le(value >>> 0);
      }
    };
    group(1, [
      [PARAMETER.event, eventOf(position)],
      [PARAMETER.validity, valid ? 1 : 0],
      [PARAMETER.satellites, satellites],
    ]);
    group(2, [
      [PARAMETER.speed, speedKmh === null ? null : Math.round(speedKmh)],
      [PARAMETER.course, courseDeg],
      [PARAMETER.altitude, altitudeM],
      [PARAMETER.supply, supplyV === null ? null : clampRound(supplyV * 100, 0, 0xffff)],
    ]);
    group(4, [
      [PARAMETER.latitude, Math.round(latitude * 1e6)],
      [PARAMETER.longitude, Math.round(longitude * 1e6)],
      [PARAMETER.time, Math.floor(position.fixTimeMs / 1000) - EPOCH_S],
      [PARAMETER.mileage, odometerM],
    ]);
    record.u8(0).patchU16le(record.length - 2, 0);
    const head = Buffer.alloc(CCE_HEAD_BYTES);
    head.writeUInt16LE(1, 4);
    return this.packet(`CCE,${Buffer.concat([head, record.view()]).toString('latin1')}`);
  }
}

function eventOf({ alarms }: Position): number {
  return alarms.map((alarm) => EVENT_OF.get(alarm)).find((code) => code !== undefined) ?? EVENT_TRACK;
}
