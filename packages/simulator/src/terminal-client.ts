import type { Position, TerminalId } from '@outrider/domain';

/** Statistics of a terminal. Counts are positions unless stated otherwise. */
export interface TerminalStats {
  /** Connected, and accepted by the server. */
  online: boolean;
  /** Recorded and not yet acknowledged positions. */
  stored: number;
  acknowledged: number;
  acknowledgedPackets: number;
  /** Positions lost because the store was full; the oldest are dropped first. */
  dropped: number;
  /** Number of connections made. */
  connections: number;
  /** The last refusal of the server or error of the network. */
  lastFailure: string | null;
}

/** A terminal with a store: it keeps recorded positions until the server acknowledges them. */
export interface TerminalClient {
  readonly terminalId: TerminalId;
  /** Records positions and sends them as soon as possible. Does not wait. */
  record(positions: readonly Position[]): void;
  stats(): TerminalStats;
  /** Resolves when the store is empty, including positions recorded after the call; at once when nothing is stored. */
  settled(): Promise<void>;
  /** Closes the connection and discards the stored positions; pending promises of {@link settled} reject. */
  close(): Promise<void>;
}
