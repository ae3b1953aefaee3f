import {
  type Clock,
  type Correctable,
  correctKnownErrors,
  type Directory,
  type PacketTrace,
  type Position,
  type ProtocolName,
  SYSTEM_CLOCK,
  type TelemetryPacket,
  type TerminalId,
  type Timer,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { Encoded, type Log, LogFullError, telemetryTopic } from '@outrider/log';
import { isDebugEnabled, type Logger } from '@outrider/runtime';
import type { PacketTraces } from './packet-traces.ts';

/** Called when a packet is durable. */
export type Durable = () => void;

/** Above this many bytes not yet durable, connections are paused; below half of it, they are resumed. */
const HOLD_ABOVE_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 100;
/** Shorter than the usual 10 s between heartbeats. Bounds the contacts in the log, however often a terminal sends. */
const CONTACT_EVERY_MS = 8_000;
const MAX_CONTACTS = 100_000;

/** Packets that are appended together. */
interface Batch {
  /** Ascending number: batches are appended in this order. */
  nth: number;
  packets: Encoded<TelemetryPacket>;
  /** One callback per packet. */
  durable: Durable[];
}

/**
 * Appends the packets of all connections to the log. Packets that arrive in the same turn of the event loop share one
 * append, so that one synced write stores many of them.
 *
 * The log contains the packets of a terminal in order of arrival: otherwise earlier ones would become late data. So
 * after a refused append, later packets wait behind the refused ones, which are appended again in order.
 */
export class Intake {
  readonly #log: Log;
  readonly #directory: Directory;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #onHold: (held: boolean) => void;
  readonly #onTaken: (packet: TelemetryPacket) => void;
  readonly #onCorrected: (what: Correctable) => void;
  /** Whether to log each packet. Checked once, because packets are many. */
  readonly #recordsPackets: boolean;
  /** Time of receipt of each vehicle's last contact in the log, in Unix milliseconds. */
  readonly #contacts = new Map<VehicleId, number>();
  #packets: TelemetryPacket[] = [];
  #durable: Durable[] = [];
  #flushing: NodeJS.Immediate | null = null;
  #batches = 0;
  #inFlight = 0;
  /** Refused batches and those that followed, in order. */
  #waiting: Batch[] = [];
  #retry: Timer | null = null;
  #held = false;
  #closed = false;
  #troubled = false;
  #idle: (() => void) | null = null;

  /**
   * @param onHold called when connections must be paused, and when they may resume
   * @param onTaken called with each accepted packet, before it is durable
   * @param onCorrected called for each position in which a known receiver error was corrected
   */
  constructor(
    log: Log,
    directory: Directory,
    logger: Logger,
    onHold: (held: boolean) => void,
    onTaken: (packet: TelemetryPacket) => void = () => {},
    onCorrected: (what: Correctable) => void = () => {},
    clock: Clock = SYSTEM_CLOCK,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#directory = directory;
    this.#logger = logger;
    this.#onHold = onHold;
    this.#onTaken = onTaken;
    this.#onCorrected = onCorrected;
    this.#recordsPackets = isDebugEnabled(logger);
  }

  /** False while the log refuses records. */
  get healthy(): boolean {
    return !this.#troubled;
  }

  /**
   * Appends a packet for the vehicle that has the terminal now.
   *
   * @returns false if no vehicle has the terminal (any more): then nothing is taken
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
    for (const position of positions) {
      const corrected = correctKnownErrors(position, receivedAtMs);
      if (corrected !== null) this.#onCorrected(corrected);
    }
    this.#add(vehicle, { vehicleId: vehicle.id, terminalId, protocol, receivedAtMs, positions, trace }, durable);
    this.#flushing ??= setImmediate(() => this.#flush());
    return true;
  }

  /**
   * Adds a packet to the next append. Positions from before the vehicle replaced its predecessor go to the predecessor.
   *
   * @param durable null for a predecessor: the packet is acknowledged once the present vehicle's part is durable
   */
  #add(vehicle: Vehicle, packet: TelemetryPacket, durable: Durable | null): void {
    let { positions } = packet;
    const { predecessor } = vehicle;
    if (predecessor !== null) {
      const past = positions.filter(({ fixTimeMs }) => fixTimeMs < predecessor.untilMs);
      const former = past.length === 0 ? undefined : this.#directory.vehicles.get(predecessor.id);
      // If the predecessor was deleted with its history, its positions are dropped.
      if (former !== undefined) this.#add(former, { ...packet, vehicleId: former.id, positions: past }, null);
      if (past.length > 0) positions = positions.filter(({ fixTimeMs }) => fixTimeMs >= predecessor.untilMs);
    }
    const own = positions === packet.positions ? packet : { ...packet, positions };
    // A packet without positions only says that the present vehicle's terminal is online.
    if (durable === null && positions.length === 0) return;
    this.#packets.push(own);
    this.#durable.push(durable ?? (() => {}));
    this.#onTaken(own);
    const { terminalId, protocol, trace } = packet;
    if (this.#recordsPackets)
      this.#logger.debug(
        { traceId: trace?.id, protocol, terminalId, vehicleId: vehicle.id, positions: positions.length },
        'packet taken',
      );
  }

  /**
   * Appends a packet without positions for a terminal that sent anything else, such as a heartbeat: its vehicle is
   * online. Does nothing if no vehicle has the terminal, or the vehicle's last such packet is recent.
   */
  noteContact(protocol: ProtocolName, terminalId: TerminalId, receivedAtMs: number, traces: PacketTraces): void {
    const vehicle = this.#directory.vehicleOfTerminal(terminalId);
    if (vehicle === undefined) return;
    const sinceMs = receivedAtMs - (this.#contacts.get(vehicle.id) ?? Number.NEGATIVE_INFINITY);
    if (sinceMs >= 0 && sinceMs < CONTACT_EVERY_MS) return;
    if (this.#contacts.size >= MAX_CONTACTS) this.#contacts.clear();
    this.#contacts.set(vehicle.id, receivedAtMs);
    this.take(protocol, terminalId, [], receivedAtMs, traces.next(), () => {});
  }

  /** Resolves when all packets are durable and acknowledged, or when the log refuses them once more. */
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
    // Acknowledged in order of arrival: terminals count acknowledgements rather than match them.
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
    // When the service stops, refused packets stay unacknowledged, so their terminals send them again.
    if (this.#closed && this.#troubled) this.#waiting = [];
    if (this.#inFlight === 0 && this.#waiting.length > 0)
      this.#retry ??= this.#clock.after(RETRY_MS, () => {
        this.#retry = null;
        this.#handInWaiting();
      });
    this.#holdOrRelease();
    if (this.#inFlight === 0 && this.#waiting.length === 0) this.#idle?.();
  }

  /** Appends waiting batches without awaiting each: if the log refuses one batch, it refuses the later ones as well. */
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
