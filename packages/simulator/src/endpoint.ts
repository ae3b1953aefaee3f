import type { ProtocolName } from '@outrider/domain';
import {
  type CreateSimulator,
  createJt808Simulator,
  createOmnicommSimulator,
  createTeltonikaSimulator,
  createWialonIpsSimulator,
} from '@outrider/protocols';
import { createHttpTerminal } from './http-terminal.ts';
import { createTcpTerminal, type TcpTerminalOptions, type TerminalClient } from './terminal-client.ts';

/** Where a gateway listens for one protocol. */
export interface Endpoint {
  protocol: ProtocolName;
  host: string;
  port: number;
}

/** The terminal's side of each protocol over TCP. */
export const simulatorOf: Readonly<Record<Exclude<ProtocolName, 'osmand'>, CreateSimulator>> = {
  omnicomm: createOmnicommSimulator,
  teltonika: createTeltonikaSimulator,
  'wialon-ips': createWialonIpsSimulator,
  jt808: createJt808Simulator,
};

export interface TerminalOptions extends Endpoint, Omit<TcpTerminalOptions, 'host' | 'port' | 'createSimulator'> {
  /** One that speaks another edition of the protocol; default {@link simulatorOf} it. Nothing where the protocol is not over TCP. */
  createSimulator?: CreateSimulator;
}

/** A terminal that speaks the endpoint's protocol, over TCP or HTTP as that has it. */
export function connectTerminal({ protocol, createSimulator, ...rest }: TerminalOptions): TerminalClient {
  return protocol === 'osmand'
    ? createHttpTerminal(rest)
    : createTcpTerminal({ ...rest, createSimulator: createSimulator ?? simulatorOf[protocol] });
}
