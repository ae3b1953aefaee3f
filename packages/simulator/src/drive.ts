import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator } from '@outrider/protocols';
import type { Endpoint } from './endpoint.ts';
import { connectTerminal } from './endpoint.ts';

export interface DriveOptions extends Endpoint {
  terminalId: TerminalId;
  /** Creates a terminal of another edition of the protocol. */
  createSimulator?: CreateSimulator;
  positions: readonly Position[];
  /** Maximum number of positions in a packet; default: the protocol's maximum. */
  positionsPerPacket?: number;
  /** The order of the positions in a packet. Default `oldest-first`. */
  packetOrder?: 'oldest-first' | 'newest-first';
  /** Sends by UDP. */
  udp?: boolean;
  /** Maximum number of unacknowledged packets; default 1. */
  windowPackets?: number;
  /** Cancels the drive: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface DriveResult {
  /** Number of positions that the server acknowledged, which is all of them. */
  acknowledged: number;
  acknowledgedPackets: number;
  /** Number of connections; more than one where the server was unavailable in between. */
  connections: number;
}

/**
 * Sends positions through one terminal, as fast as the server accepts them, and resolves when all are acknowledged.
 * Waits for an unavailable server: unacknowledged positions are sent again, in the same order.
 */
export async function playDrive(options: DriveOptions): Promise<DriveResult> {
  const { positions, signal, ...terminal } = options;
  const client = connectTerminal({
    ...terminal,
    maxStoredPositions: Math.max(1, positions.length),
    backoffMs: [50, 1000],
  });
  try {
    client.record(positions);
    await (signal ? Promise.race([client.settled(), aborted(signal)]) : client.settled());
    const { acknowledged, acknowledgedPackets, connections } = client.stats();
    return { acknowledged, acknowledgedPackets, connections };
  } finally {
    await client.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
