import type { ProtocolName } from '@outrider/domain';
import { type CreateSimulator, tcpProtocols } from '@outrider/protocols';
import { createHttpTerminal } from './http-terminal.ts';
import { createTcpTerminal, type TcpTerminalOptions, type TerminalClient } from './terminal-client.ts';

/** Where a gateway listens for one protocol. */
export interface Endpoint {
  protocol: ProtocolName;
  host: string;
  port: number;
}

/** The usual terminal of a protocol over TCP; undefined for the others. */
export function simulatorOf(protocol: ProtocolName): CreateSimulator | undefined {
  return tcpProtocols.find(({ name }) => name === protocol)?.simulators[0];
}

export interface TerminalOptions extends Endpoint, Omit<TcpTerminalOptions, 'host' | 'port' | 'createSimulator'> {
  /**
   * One that speaks another edition of the protocol; default: {@link simulatorOf}. Ignored where the protocol is HTTP.
   */
  createSimulator?: CreateSimulator;
}

/** A terminal that speaks the endpoint's protocol, over TCP or HTTP as that has it. */
export function connectTerminal({ protocol, createSimulator, ...rest }: TerminalOptions): TerminalClient {
  const create = createSimulator ?? simulatorOf(protocol);
  return create === undefined ? createHttpTerminal(rest) : createTcpTerminal({ ...rest, createSimulator: create });
}
