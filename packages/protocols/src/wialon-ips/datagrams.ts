import type { Position } from '@outrider/domain';
import { crc16Arc } from '../crc16.ts';
import type { CreateSimulator, Inbound, Session, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { createWialonIpsSimulator } from './simulator.ts';

const HASH = 0x23;
/** Version, id and password. */
const MAX_PREFIX_BYTES = 512;
const LOGIN_ACCEPTED = Buffer.from('#AL#1\r\n');

/**
 * Wialon IPS over UDP (Gurtam's "Wialon IPS" 2.0, UDP data transfer). The version number was added in 2.0, and the
 * server sends no commands. Each packet begins with the identity of the unit, before its type: `<version>;<id>#D#…`, in
 * version 1.1 `<id>#D#…`, with a password after the id where the unit has one. It is read as the same packet over TCP
 * after the same login. A login and data in the form of TCP are accepted as well.
 */
export class WialonIpsDatagramSession implements Session {
  readonly #createOverTcp: () => Session;

  /** @param createOverTcp creates the session that reads the packets */
  constructor(createOverTcp: () => Session) {
    this.#createOverTcp = createOverTcp;
  }

  push(chunk: Buffer, nowMs: number): Inbound[] {
    const session = this.#createOverTcp();
    const hash = chunk.subarray(0, MAX_PREFIX_BYTES).indexOf(HASH);
    const out: Inbound[] = [];
    if (hash > 0)
      // The terminal sent no login, so none is answered.
      for (const message of session.push(loginOf(chunk.subarray(0, hash)), nowMs)) out.push(withoutAnswer(message));
    if (out.some(({ type }) => type === 'refuse')) return out;
    out.push(...session.push(chunk.subarray(Math.max(0, hash)), nowMs));
    const unfinished = session.dropUnfinished();
    if (unfinished > 0 && !out.some(({ type }) => type === 'refuse'))
      out.push({ type: 'refuse', reason: 'bad-length', detail: 'a packet is cut off', bytes: null });
    return out;
  }

  /** Always 0: a packet is in one datagram. */
  dropUnfinished(): number {
    return 0;
  }
}

/** The equivalent login over TCP. */
function loginOf(prefix: Buffer): Buffer {
  const fields = prefix.toString('latin1').split(';');
  const version = /^2\.\d$/.test(fields[0] ?? '') ? fields.shift() : undefined;
  const [id = '', password = '', ...rest] = fields;
  const identity = [id, password, ...rest].join(';');
  if (version === undefined) return Buffer.from(`#L#${identity}\r\n`, 'latin1');
  const body = Buffer.from(`${version};${identity};`, 'latin1');
  return Buffer.concat([Buffer.from('#L#'), body, Buffer.from(`${crc16Arc(body, 0, body.length).toString(16)}\r\n`)]);
}

function withoutAnswer(message: Inbound): Inbound {
  if (message.type === 'identify') return { ...message, accept: null, reject: null };
  return message.type === 'refuse' ? { ...message, bytes: null } : message;
}

/** A terminal that speaks Wialon IPS 2.0 over UDP. */
export const createWialonIpsDatagramSimulator: CreateSimulator = (terminalId) => {
  const overTcp = createWialonIpsSimulator(terminalId);
  overTcp.receive(LOGIN_ACCEPTED);
  const prefix = Buffer.from(`2.0;${terminalId}`);
  return {
    maxPositionsPerPacket: overTcp.maxPositionsPerPacket,
    hello: () => null,
    encode: (positions: readonly Position[]) => Buffer.concat([prefix, overTcp.encode(positions)]),
    receive: (chunk: Buffer): SimulatorReply[] => overTcp.receive(chunk),
  } satisfies TerminalSimulator;
};
