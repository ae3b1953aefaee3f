import type { ProtocolName } from '@outrider/domain';
import { type CreateSimulator, datagramProtocols, httpProtocols, tcpProtocols } from '@outrider/protocols';
import { createHttpTerminal } from './http-terminal.ts';
import { createTcpTerminal, type TcpTerminalOptions } from './tcp-terminal.ts';
import type { TerminalClient } from './terminal-client.ts';
import { createUdpTerminal } from './udp-terminal.ts';

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

/** The terminal of a protocol over UDP; undefined where it has none. */
export function datagramSimulatorOf(protocol: ProtocolName): CreateSimulator | undefined {
  const found = datagramProtocols.find(({ name }) => name === protocol);
  return found?.datagrams.simulator ?? found?.simulators[0];
}

export interface TerminalOptions extends Endpoint, Omit<TcpTerminalOptions, 'host' | 'port' | 'createSimulator'> {
  /**
   * One that speaks another edition of the protocol; default: {@link simulatorOf}. Ignored where the protocol is HTTP.
   */
  createSimulator?: CreateSimulator;
  /** Sends by UDP. */
  udp?: boolean;
}

/**
 * A terminal that speaks the endpoint's protocol, over TCP or HTTP as that has it, or over UDP where it is asked for.
 *
 * @throws {RangeError} when it is asked for UDP, and the protocol has none
 */
export function connectTerminal({ protocol, createSimulator, udp, ...rest }: TerminalOptions): TerminalClient {
  if (udp) {
    const createOverUdp = createSimulator ?? datagramSimulatorOf(protocol);
    if (createOverUdp === undefined) throw new RangeError(`${protocol} is not spoken over UDP`);
    return createUdpTerminal({ ...rest, createSimulator: createOverUdp });
  }
  const create = createSimulator ?? simulatorOf(protocol);
  if (create !== undefined) return createTcpTerminal({ ...rest, createSimulator: create });
  const http = httpProtocols.find(({ name }) => name === protocol);
  if (http === undefined) throw new RangeError(`no simulator of ${protocol}`);
  return createHttpTerminal({ ...rest, protocol: http });
}
