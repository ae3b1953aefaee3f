import type { Position, TerminalId } from '@outrider/domain';

/** How a terminal is doing. Counts are of positions unless they say otherwise. */
export interface TerminalStats {
  /** Connected, and taken in by the server. */
  online: boolean;
  /** Recorded and not yet acknowledged. */
  stored: number;
  acknowledged: number;
  acknowledgedPackets: number;
  /** Lost because the store was full: the oldest go first. */
  dropped: number;
  /** How often a connection was made. */
  connections: number;
  /** What the server, or the network, last said against it. */
  lastFailure: string | null;
}

/** A terminal with a store of its own: what it records is kept until the server acknowledges it. */
export interface TerminalClient {
  readonly terminalId: TerminalId;
  /** Records positions and sends them as soon as it can. Never waits. */
  record(positions: readonly Position[]): void;
  stats(): TerminalStats;
  /** Resolves when all that was recorded up to now, and after, is acknowledged; at once when nothing is stored. */
  settled(): Promise<void>;
  /** Hangs up. What is stored is forgotten; those who wait for {@link settled} go on waiting no longer: it rejects. */
  close(): Promise<void>;
}
