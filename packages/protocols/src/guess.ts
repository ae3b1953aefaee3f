import type { ProtocolName, TerminalId } from '@outrider/domain';
import { httpProtocols, tcpProtocols } from './list.ts';
import type { Inbound, Session } from './protocol.ts';

/** A protocol that matches the first bytes of a device. */
export interface ProtocolGuess {
  protocol: ProtocolName;
  /** Null where the bytes do not hold it. */
  terminalId: TerminalId | null;
}

/** Fewer bytes match too many protocols. */
const MIN_BYTES = 4;
const MAX_GUESSES = 3;
const HTTP_REQUEST = /^(?:GET|POST|HEAD|PUT) \//;

/** How well bytes match a protocol. */
const FIT = { none: 0, begun: 1, frame: 2, identified: 3 } as const;

/**
 * Tries the first bytes of a device with each protocol.
 *
 * @param bytes from the first byte on; they may end within a frame
 * @returns the protocols that match best; empty where none matches
 */
export function guessProtocols(bytes: Buffer, nowMs: number): ProtocolGuess[] {
  if (bytes.length < MIN_BYTES) return [];
  if (HTTP_REQUEST.test(bytes.toString('latin1', 0, 8)))
    return httpProtocols.slice(0, MAX_GUESSES).map(({ name }) => ({ protocol: name, terminalId: null }));
  let best: number = FIT.begun;
  let guesses: ProtocolGuess[] = [];
  for (const { name, createSession, datagrams } of tcpProtocols) {
    const creates = datagrams?.createSession ? [createSession, datagrams.createSession] : [createSession];
    const fits = creates.map((create) => fitOf(bytes, create(), nowMs));
    const { fit, terminalId } = fits.reduce((one, other) => (other.fit > one.fit ? other : one));
    if (fit < best) continue;
    if (fit > best) guesses = [];
    best = fit;
    guesses.push({ protocol: name, terminalId });
  }
  return guesses.slice(0, MAX_GUESSES);
}

function fitOf(bytes: Buffer, session: Session, nowMs: number): { fit: number; terminalId: TerminalId | null } {
  const messages = session.push(bytes, nowMs);
  for (const message of messages)
    if ((message.type === 'identify' || message.type === 'positions') && message.terminalId !== undefined)
      return { fit: FIT.identified, terminalId: message.terminalId };
  const terminalId = messages.flatMap(idsOf)[0] ?? null;
  // A whole data frame of a terminal that has not logged in on this connection.
  if (messages.some((message) => message.type === 'refuse' && message.reason === 'not-identified'))
    return { fit: FIT.frame, terminalId };
  if (messages.some((message) => message.type === 'refuse')) return { fit: FIT.none, terminalId: null };
  return { fit: session.dropUnfinished() > MIN_BYTES ? FIT.begun : FIT.none, terminalId: null };
}

function idsOf(message: Inbound): readonly TerminalId[] {
  return message.type === 'refuse' ? (message.terminalIds ?? []) : [];
}
