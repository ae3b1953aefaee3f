import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator } from '@outrider/protocols';
import type { Endpoint } from './endpoint.ts';
import { connectTerminal } from './endpoint.ts';

export interface DriveOptions extends Endpoint {
  terminalId: TerminalId;
  /** One that speaks another edition of the protocol. */
  createSimulator?: CreateSimulator;
  positions: readonly Position[];
  /** At most this many positions in a packet; default what the protocol allows. */
  positionsPerPacket?: number;
  /** The order of the positions in a packet. Default `oldest-first`. */
  packetOrder?: 'oldest-first' | 'newest-first';
  /** Sends by UDP. */
  udp?: boolean;
  /** Packets under way at a time; default 1. */
  windowPackets?: number;
  /** Ends the drive early: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface DriveResult {
  /** Positions that the server acknowledged: all of them. */
  acknowledged: number;
  acknowledgedPackets: number;
  /** Connections it took; more than one where the server went away in between. */
  connections: number;
}

/**
 * Plays positions through one terminal, as fast as the server takes them, and resolves when all are acknowledged. A
 * server that goes away is waited for: what it did not acknowledge is sent again, in the same order.
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
