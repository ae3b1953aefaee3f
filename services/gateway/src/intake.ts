import type { Directory, PacketTrace, Position, ProtocolName, TelemetryPacket, TerminalId } from '@outrider/domain';
import { type Log, LogFullError, telemetryTopic } from '@outrider/log';
import { type Log as Diary, tellsDetails } from '@outrider/runtime';

/** Told when a packet is durable. */
export type Durable = () => void;

/** Beyond this many bytes not yet durable, peers are held back; below half of it, they are let go on. */
const HOLD_ABOVE_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 100;

/**
 * The way into the log that all connections share: packets that arrive in the same turn of the event loop go in as one
 * append, so that one synced write carries many of them.
 */
export class Intake {
  readonly #log: Log;
  readonly #directory: Directory;
  readonly #diary: Diary;
  readonly #onHold: (held: boolean) => void;
  /** Packets are many: what is not written down is not put together either. */
  readonly #tellsPackets: boolean;
  #packets: TelemetryPacket[] = [];
  #durable: Durable[] = [];
  #flushing: NodeJS.Immediate | null = null;
  #inFlight = 0;
  #held = false;
  #closed = false;
  #troubled = false;
  #idle: (() => void) | null = null;

  /** @param onHold told when peers must be held back, and when they may go on */
  constructor(log: Log, directory: Directory, diary: Diary, onHold: (held: boolean) => void) {
    this.#log = log;
    this.#directory = directory;
    this.#diary = diary;
    this.#onHold = onHold;
    this.#tellsPackets = tellsDetails(diary);
  }

  /** False while the log takes nothing. */
  get healthy(): boolean {
    return !this.#troubled;
  }

  /**
   * Hands a packet to the log on behalf of the vehicle that the terminal is fitted to now.
   *
   * @returns false when the terminal has no vehicle (any more): nothing was taken
   */
  take(
    protocol: ProtocolName,
    terminalId: TerminalId,
    positions: Position[],
    receivedAtMs: number,
    trace: PacketTrace,
    durable: Durable,
  ): boolean {
    const vehicle = this.#directory.vehicleOfTerminal(terminalId);
    if (vehicle === undefined) return false;
    this.#packets.push({ vehicleId: vehicle.id, terminalId, protocol, receivedAtMs, positions, trace });
    if (this.#tellsPackets)
      this.#diary.debug(
        { traceId: trace.id, protocol, terminalId, vehicleId: vehicle.id, positions: positions.length },
        'packet taken',
      );
    this.#durable.push(durable);
    this.#flushing ??= setImmediate(() => this.#flush());
    return true;
  }

  /** Resolves when everything taken is durable and its peers were told. */
  async drain(): Promise<void> {
    this.#closed = true;
    if (this.#flushing) this.#flush();
    if (this.#inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing);
    this.#flushing = null;
    const packets = this.#packets;
    const durable = this.#durable;
    this.#packets = [];
    this.#durable = [];
    this.#inFlight += 1;
    void this.#append(packets).then((written) => {
      this.#inFlight -= 1;
      // Told in the order in which they came: a terminal counts acknowledgements, it does not match them.
      if (written) for (const tell of durable) tell();
      this.#holdOrRelease();
      if (this.#inFlight === 0) this.#idle?.();
    });
    this.#holdOrRelease();
  }

  /** Tries until the log has taken the packets; gives up, unacknowledged, only when the service stops meanwhile. */
  async #append(packets: TelemetryPacket[]): Promise<boolean> {
    for (;;) {
      try {
        await this.#log.append(telemetryTopic, packets);
        if (this.#troubled) this.#diary.info({ packets: packets.length }, 'the log takes packets again');
        this.#troubled = false;
        return true;
      } catch (error) {
        if (!(error instanceof LogFullError) && !this.#troubled)
          this.#diary.error(
            { err: error },
            'the log takes no packets: terminals are held back, nothing is acknowledged',
          );
        this.#troubled = true;
        this.#holdOrRelease();
        if (this.#closed) return false;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #holdOrRelease(): void {
    const pending = this.#log.pendingBytes;
    const hold = this.#troubled || pending > (this.#held ? HOLD_ABOVE_BYTES / 2 : HOLD_ABOVE_BYTES);
    if (hold === this.#held) return;
    this.#held = hold;
    this.#onHold(hold);
  }
}
