import type { Directory, PacketTrace, Position, ProtocolName, TelemetryPacket, TerminalId } from '@outrider/domain';
import { Encoded, type Log, LogFullError, telemetryTopic } from '@outrider/log';
import { isDebugEnabled, type Logger } from '@outrider/runtime';

/** Reported when a packet is durable. */
export type Durable = () => void;

/** Beyond this many bytes not yet durable, peers are held back; below half of it, they are let go on. */
const HOLD_ABOVE_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 100;

/** Packets that go into the log together. */
interface Batch {
  /** Counts up: batches go in in this order. */
  nth: number;
  packets: Encoded<TelemetryPacket>;
  /** Of each of them. */
  durable: Durable[];
}

/**
 * The way into the log that all connections share: packets that arrive in the same turn of the event loop go in as one
 * append, so that one synced write carries many of them.
 *
 * Packets of a terminal stand in the log in the order in which they came, or the later ones would make the earlier ones
 * late data. So when an append is refused, with those behind it, nothing that comes goes past them: they are handed in
 * again in their order.
 */
export class Intake {
  readonly #log: Log;
  readonly #directory: Directory;
  readonly #logger: Logger;
  readonly #onHold: (held: boolean) => void;
  readonly #onTaken: (packet: TelemetryPacket) => void;
  /** Packets are many: what is not written down is not put together either. */
  readonly #recordsPackets: boolean;
  #packets: TelemetryPacket[] = [];
  #durable: Durable[] = [];
  #flushing: NodeJS.Immediate | null = null;
  #batches = 0;
  #inFlight = 0;
  /** In their order: those that the log refused, and those that came meanwhile. */
  #waiting: Batch[] = [];
  #retry: NodeJS.Timeout | null = null;
  #held = false;
  #closed = false;
  #troubled = false;
  #idle: (() => void) | null = null;

  /**
   * @param onHold called when peers must be held back, and when they may go on
   * @param onTaken called with each packet that is taken, before it is durable
   */
  constructor(
    log: Log,
    directory: Directory,
    logger: Logger,
    onHold: (held: boolean) => void,
    onTaken: (packet: TelemetryPacket) => void = () => {},
  ) {
    this.#log = log;
    this.#directory = directory;
    this.#logger = logger;
    this.#onHold = onHold;
    this.#onTaken = onTaken;
    this.#recordsPackets = isDebugEnabled(logger);
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
    const packet: TelemetryPacket = { vehicleId: vehicle.id, terminalId, protocol, receivedAtMs, positions, trace };
    this.#packets.push(packet);
    this.#onTaken(packet);
    if (this.#recordsPackets)
      this.#logger.debug(
        { traceId: trace.id, protocol, terminalId, vehicleId: vehicle.id, positions: positions.length },
        'packet taken',
      );
    this.#durable.push(durable);
    this.#flushing ??= setImmediate(() => this.#flush());
    return true;
  }

  /** Resolves when everything taken is durable and its peers were reported, or when the log refuses it once more. */
  async drain(): Promise<void> {
    this.#closed = true;
    if (this.#flushing) this.#flush();
    if (this.#inFlight > 0 || this.#waiting.length > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing);
    this.#flushing = null;
    const batch: Batch = {
      nth: this.#batches++,
      packets: new Encoded(telemetryTopic, this.#packets),
      durable: this.#durable,
    };
    this.#packets = [];
    this.#durable = [];
    if (this.#troubled) this.#waiting.push(batch);
    else this.#append(batch);
    this.#holdOrRelease();
  }

  #append(batch: Batch): void {
    this.#inFlight++;
    const appended = this.#log.append(telemetryTopic, batch.packets);
    void appended
      .then(
        () => this.#taken(batch),
        (error: unknown) => this.#refused(batch, error),
      )
      .then(() => {
        this.#inFlight--;
        this.#goOn();
      });
  }

  #taken({ packets, durable }: Batch): void {
    // Reported in the order in which they came: a terminal counts acknowledgements, it does not match them.
    for (const report of durable) report();
    if (!this.#troubled) return;
    this.#troubled = false;
    this.#logger.info({ packets: packets.length }, 'appending to the log recovered');
    this.#handInWaiting();
  }

  #refused(batch: Batch, error: unknown): void {
    if (!(error instanceof LogFullError) && !this.#troubled)
      this.#logger.error({ err: error }, 'cannot append to the log; pausing terminal connections');
    this.#troubled = true;
    this.#waiting.push(batch);
    this.#waiting.sort((one, other) => one.nth - other.nth);
  }

  #goOn(): void {
    // When the service stops, what was refused is not acknowledged: its terminals send it again.
    if (this.#closed && this.#troubled) this.#waiting = [];
    if (this.#inFlight === 0 && this.#waiting.length > 0)
      this.#retry ??= setTimeout(() => {
        this.#retry = null;
        this.#handInWaiting();
      }, RETRY_MS);
    this.#holdOrRelease();
    if (this.#inFlight === 0 && this.#waiting.length === 0) this.#idle?.();
  }

  /** All at once: where the log refuses one of them, it refuses those behind it as well. */
  #handInWaiting(): void {
    const batches = this.#waiting;
    this.#waiting = [];
    for (const batch of batches) this.#append(batch);
  }

  #holdOrRelease(): void {
    const pending = this.#log.pendingBytes;
    const hold = this.#troubled || pending > (this.#held ? HOLD_ABOVE_BYTES / 2 : HOLD_ABOVE_BYTES);
    if (hold === this.#held) return;
    this.#held = hold;
    this.#onHold(hold);
  }
}
