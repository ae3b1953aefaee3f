import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { onlyPosition } from '../simulator-input.ts';
import { BLOCK, FLAG, NAME, VALUE } from './packet.ts';
import { ACKNOWLEDGEMENT } from './session.ts';

/**
 * Names of blocks that map to a field of a position: an attribute of that name would be a second value of the field.
 */
const TAKEN: ReadonlySet<string> = new Set(Object.values(NAME));
const isInt = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= 0x7fffffff;

/**
 * A platform that forwards one vehicle. What the protocol can't carry: fractions of a second, of a km/h and of a metre
 * of altitude, alarms other than `sos`, a place that is not valid, and that speed, course, altitude or satellites are
 * unknown.
 */
export const createWialonRetranslatorSimulator: CreateSimulator = (terminalId) =>
  new WialonRetranslatorSimulator(terminalId);

class WialonRetranslatorSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly #terminalId: TerminalId;
  readonly #packet = new ByteWriter();
  readonly #block = new ByteWriter();

  constructor(terminalId: TerminalId) {
    this.#terminalId = terminalId;
  }

  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { valid, ignition, supplyV, odometerM, fuelL, attributes, alarms } = position;
    const flags = (valid ? FLAG.place : 0) | (alarms.includes('sos') ? FLAG.alarm : 0);
    const out = this.#packet
      .clear()
      .u32le(0)
      .append(Buffer.from(`${this.#terminalId}\0`))
      .u32be(clampRound(position.fixTimeMs / 1000 - 0.5, 0, 0xffffffff))
      .u32be(flags);
    if (valid) this.#put(out, NAME.place, VALUE.binary, placeOf(position));
    if (ignition !== null) this.#number(out, NAME.ignition, ignition ? 1 : 0);
    if (supplyV !== null) this.#number(out, NAME.supply, supplyV);
    if (odometerM !== null) this.#number(out, NAME.odometer, odometerM);
    if (fuelL !== null) this.#number(out, NAME.fuel, fuelL);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (TAKEN.has(name)) continue;
      if (typeof value === 'string') this.#put(out, name, VALUE.text, Buffer.from(`${value}\0`));
      else this.#number(out, name, Number(value));
    }
    const bytes = out.toBuffer();
    bytes.writeUInt32LE(bytes.length - 4);
    return bytes;
  }

  receive(chunk: Buffer): SimulatorReply[] {
    return [...chunk].map((byte) =>
      byte === ACKNOWLEDGEMENT ? { type: 'ack' } : { type: 'refused', detail: `0x${byte.toString(16)}` },
    );
  }

  #number(out: ByteWriter, name: string, value: number): void {
    const bytes = Buffer.alloc(isInt(value) ? 4 : 8);
    if (isInt(value)) bytes.writeInt32BE(value);
    else bytes.writeDoubleLE(value);
    this.#put(out, name, isInt(value) ? VALUE.int : VALUE.double, bytes);
  }

  #put(out: ByteWriter, name: string, type: number, value: Uint8Array): void {
    const content = this.#block
      .clear()
      .u8(0)
      .u8(type)
      .append(Buffer.from(`${name}\0`))
      .append(value);
    out.u16be(BLOCK).u32be(content.length).append(content.view());
  }
}

function placeOf({ longitude, latitude, altitudeM, speedKmh, courseDeg, satellites }: Position): Buffer {
  const place = Buffer.alloc(29);
  place.writeDoubleLE(longitude, 0);
  place.writeDoubleLE(latitude, 8);
  place.writeDoubleLE(altitudeM ?? 0, 16);
  place.writeInt16BE(clampRound(speedKmh ?? 0, 0, 0x7fff), 24);
  place.writeInt16BE(clampRound(courseDeg ?? 0, 0, 360) % 360, 26);
  place[28] = clampRound(satellites ?? 0, 0, 255);
  return place;
}
