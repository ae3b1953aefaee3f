import type { ProtocolName } from '@outrider/domain';
import { type CreateSimulator, datagramProtocols, httpProtocols, tcpProtocols } from '@outrider/protocols';
import { createHttpTerminal } from './http-terminal.ts';
import { createTcpTerminal, type TcpTerminalOptions } from './tcp-terminal.ts';
import type { TerminalClient } from './terminal-client.ts';
import { createUdpTerminal } from './udp-terminal.ts';

/** Address of a gateway for one protocol. */
export interface Endpoint {
  protocol: ProtocolName;
  host: string;
  port: number;
}

/** The default terminal of a protocol over TCP; undefined for other protocols. */
export function simulatorOf(protocol: ProtocolName): CreateSimulator | undefined {
  return tcpProtocols.find(({ name }) => name === protocol)?.simulators[0];
}

/** The default terminal of a protocol over UDP; undefined where it does not support UDP. */
export function datagramSimulatorOf(protocol: ProtocolName): CreateSimulator | undefined {
  const found = datagramProtocols.find(({ name }) => name === protocol);
  return found?.datagrams.simulator ?? found?.simulators[0];
}

export interface TerminalOptions extends Endpoint, Omit<TcpTerminalOptions, 'host' | 'port' | 'createSimulator'> {
  /**
   * Creates a terminal of another edition of the protocol; default: {@link simulatorOf}. Ignored for HTTP protocols.
   */
  createSimulator?: CreateSimulator;
  /** Sends by UDP. */
  udp?: boolean;
}

/**
 * Connects a terminal of the endpoint's protocol, over TCP or HTTP depending on the protocol, or over UDP on request.
 *
 * @throws {RangeError} when UDP is requested, and the protocol does not support it
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
