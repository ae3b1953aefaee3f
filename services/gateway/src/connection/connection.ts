import type { Socket } from 'node:net';
import type { Clock, CommandOutcome, Position, TerminalCommand, TerminalId, Timer, Vehicle } from '@outrider/domain';
import type { Inbound, Protocol, Session, TerminalCodes } from '@outrider/protocols';
import type { Tracing } from '@outrider/runtime';
import type { Intake } from '../intake.ts';
import type { ProtocolMetrics } from '../metrics.ts';
import { beginPacketSpan } from '../packet-traces.ts';
import type { Refusal } from '../refusal.ts';
import { sessionOptions } from '../session-options.ts';
import { TerminalCheck } from '../terminal-check.ts';
import { type Answer, AnswerQueue } from './answer-queue.ts';
import { CarriedAdmission, type CarriedAdmissionContext } from './carried-admission.ts';
import { withConflict } from './connected-terminals.ts';
import { PendingCommands } from './pending-commands.ts';
import { UnknownPeer, type UnknownPeerContext } from './unknown-peer.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** Maximum of unanswered packets of a terminal. Beyond it reading is paused until some are answered. */
const MAX_UNANSWERED = 256;
const CLOSING_TIMEOUT_MS = 1000;

/** Dependencies of a connection. */
export interface ConnectionContext extends CarriedAdmissionContext, UnknownPeerContext {
  intake: Intake;
  metrics: ProtocolMetrics;
  tracing: Tracing;
  /** Time within which a terminal must identify itself, however much it sends. */
  identifyTimeoutMs: number;
  unread: UnreadAnswers;
  clock: Clock;
  codes: TerminalCodes;
  /** Whether two devices use the terminal's id. Only called while the terminal has several connections. */
  isContested(terminalId: TerminalId): boolean;
  /** Key from which the secrets of terminals are derived. */
  terminalSecret: string;
  /** Called once the terminal has identified itself and accepts commands. */
  onIdentified(terminalId: TerminalId, connection: Connection): void;
  onText(terminalId: TerminalId | null, text: string): void;
  /** Called for the first unreadable message of a connection. */
  onUnread(terminalId: TerminalId | null, detail: string): void;
}

/**
 * The connection of a terminal, or of a platform that carries several terminals. Feeds the codec and passes positions
 * to the intake. Answers in the order of the packets, and each only once the packet that it acknowledges is durable.
 */
export class Connection {
  /** Address of the peer. */
  readonly address: string;
  readonly #socket: Socket;
  readonly #session: Session;
  readonly #protocol: Protocol;
  readonly #context: ConnectionContext;
  readonly #carried: CarriedAdmission;
  readonly #check: TerminalCheck;
  readonly #peer: UnknownPeer;
  readonly #answers: AnswerQueue;
  readonly #commands: PendingCommands;
  #terminalId: TerminalId | null = null;
  /** Unix milliseconds of the last data received. */
  lastReceivedMs = 0;
  #registration: string | null = null;
  /** Whether the terminal has other connections; set by `ConnectedTerminals`. */
  hasRivals = false;
  #ending = false;
  /** Ends a connection that does not identify itself in time, and later one that does not close in time. */
  #deadline: Timer;
  #peerIsDone = false;
  #heldByGateway = false;
  /** Time of arrival of the current bytes by {@link Tracing.nowMs}; 0 while tracing is off. */
  #chunkAtMs = 0;
  /** Whether an unreadable message was logged. Later ones of the connection are not logged. */
  #hasUnread = false;
  /** Packets that are not counted yet: packets that arrive together are counted together. */
  #packetsTaken = 0;
  #positionsTaken = 0;

  constructor(socket: Socket, protocol: Protocol, context: ConnectionContext) {
    this.#socket = socket;
    this.#protocol = protocol;
    this.#session = protocol.createSession({
      ...sessionOptions(context),
      letIn: (forms, secret) => this.#carried.letIn(forms, secret, this.lastReceivedMs),
    });
    this.#context = context;
    this.#commands = new PendingCommands(context.clock);
    this.#answers = new AnswerQueue(socket, context.unread, {
      onUnread: () => this.#endUnread(),
      onAcknowledged: (packets) => {
        context.metrics.acknowledged.inc(packets);
        this.#say();
        this.#readOrNot();
      },
    });
    this.address = socket.remoteAddress ?? 'unknown';
    this.#peer = new UnknownPeer(this.address, context);
    const { certificateSha256 } = context;
    this.#check = new TerminalCheck({ protocol: protocol.name, address: this.address, certificateSha256 }, context);
    this.#carried = new CarriedAdmission(protocol.name, this.address, context, () => {
      if (this.#terminalId === null) this.#isIdentified();
    });
    socket.setNoDelay(true);
    this.#deadline = context.clock.after(context.identifyTimeoutMs, () => {
      const detail = 'the terminal did not identify itself in time';
      this.#peer.list({ reason: 'not-identified-in-time', detail });
      this.#refuse('not-identified-in-time', detail, null);
    });
    socket.on('timeout', () => {
      if (!this.#ending) this.#refuse('idle', 'nothing was said in time', null);
    });
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    // A terminal may close its side right after its last packet; it still gets its answers.
    socket.on('end', () => {
      this.#peerIsDone = true;
      this.#say();
    });
    // Disconnects are not errors; the event 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#deadline.cancel();
      this.#carried.terminals.close();
      this.#answers.close();
      this.#commands.end();
    });
  }

  /** The id that the terminal sent; null before its identification. */
  get terminalId(): TerminalId | null {
    return this.#terminalId;
  }

  /** Whether the terminal authenticated itself with its own secret or a certificate. */
  get isAuthenticated(): boolean {
    return this.#check.isAuthenticated;
  }

  /** Whether the terminal's protocol supports commands. */
  get takesCommands(): boolean {
    return this.#session.command !== undefined;
  }

  /** Sends the terminal a command. Resolves with its answer, or with the reason why none exists. */
  command(command: TerminalCommand, timeoutMs: number): Promise<CommandOutcome> {
    if (this.#ending || !this.#socket.writable || this.#terminalId === null)
      return Promise.resolve({ outcome: 'offline' });
    return this.#commands.give(this.#session, command, timeoutMs, (bytes) => this.#answers.send(bytes));
  }

  /** Pauses or resumes reading, for the backpressure of the gateway. */
  hold(held: boolean): void {
    this.#heldByGateway = held;
    this.#readOrNot();
  }

  /** Sends the ready answers, then closes the connection. */
  end(): void {
    this.#ending = true;
    this.#answers.sendReady();
    this.#socket.end();
  }

  /** Closes the connection because the terminal has newer ones. */
  supersede(): void {
    if (!this.#ending) this.#refuse('superseded', 'the terminal has too many connections', null);
  }

  /** Closes the connection at once, even with pending answers. */
  destroy(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#ending) return;
    const { clock, tracing } = this.#context;
    if (tracing.isOn) this.#chunkAtMs = tracing.nowMs();
    this.lastReceivedMs = clock.now();
    this.#peer.add(chunk);
    let saysMore = false;
    for (const inbound of this.#session.push(chunk, this.lastReceivedMs)) {
      this.#handle(inbound);
      if (this.#ending) break;
      if (inbound.type !== 'identify') saysMore = true;
    }
    if (saysMore && this.#packetsTaken === 0 && !this.#ending) this.#noteContact();
    this.#countTaken();
    if (this.#ending) return;
    this.#say();
    this.#readOrNot();
  }

  #handle(inbound: Inbound): void {
    switch (inbound.type) {
      case 'identify':
        this.#check.show(inbound);
        this.#registration = inbound.registration ?? null;
        return this.#identify([inbound.terminalId, ...(inbound.otherIds ?? [])], inbound.accept, inbound.reject);
      case 'positions':
        return this.#takePositions(inbound.positions, inbound.ack, inbound.terminalId);
      case 'reply':
        this.#answers.add({ bytes: inbound.bytes, ready: true });
        return;
      case 'text':
        this.#context.metrics.texts.inc(1);
        this.#context.onText(this.#terminalId, inbound.text);
        return;
      case 'unread':
        if (!this.#hasUnread) this.#context.onUnread(this.#terminalId, inbound.detail);
        this.#hasUnread = true;
        return this.#context.onRefused('bad-content', inbound.detail, this.address, this.#context.traces.next());
      case 'answer':
        return this.#commands.take(inbound.correlation, inbound.answer);
      case 'refuse':
        this.#peer.list(inbound);
        if (inbound.reason === 'wrong-secret') this.#context.onWrongSecret(this.address);
        return this.#refuse(inbound.reason, inbound.detail, inbound.bytes);
    }
  }

  /**
   * @param forms of the terminal's id: the first known one is used; if none is known, the first is listed as unknown
   */
  #identify(forms: readonly [TerminalId, ...TerminalId[]], accept: Buffer | null, reject: Buffer | null): void {
    const terminalId = forms.find((form) => this.#context.isKnown(form));
    if (this.#context.isBlocked(terminalId ?? forms[0], this.address))
      return this.#refuse('address-blocked', 'the address tried too many unknown ids', null);
    if (terminalId === undefined) return this.#refuseUnknown(forms[0], reject);
    if (!this.#isAllowed(this.#context.vehicleOf(terminalId), reject)) return;
    this.#terminalId = terminalId;
    this.#isIdentified();
    if (accept) this.#answers.add({ bytes: accept, ready: true });
    this.#context.onIdentified(terminalId, this);
  }

  /** Ends the deadline for identification. From now on only silence ends the connection. */
  #isIdentified(): void {
    this.#peer.identify();
    this.#deadline.cancel();
    this.#socket.setTimeout(this.#context.idleTimeoutMs);
  }

  /**
   * Checks the vehicle's access settings when the terminal identifies itself, and again when the vehicle has changed.
   *
   * @returns whether the connection stays open
   */
  #isAllowed(vehicle: Vehicle | undefined, reject: Buffer | null): boolean {
    // A video terminal other than the vehicle's own terminal has no access settings to check.
    if (vehicle === undefined) return true;
    const refusal = this.#check.refusalOf(vehicle);
    if (refusal === null) return true;
    this.#refuse(refusal, `it is not taken for terminal ${JSON.stringify(vehicle.terminalId)}`, reject);
    return false;
  }

  /** @param carried the terminal of the packet, if the connection carries several */
  #takePositions(positions: Position[], ack: Buffer | null, carried?: TerminalId): void {
    const terminalId = carried ?? this.#terminalId;
    if (terminalId === null) return this.#refuse('not-identified', 'data before the terminal said who it is', null);
    const { metrics, intake, traces, tracing, clock, contacts } = this.#context;
    const vehicle = this.#context.vehicleOf(terminalId);
    if (carried === undefined && !this.#isAllowed(vehicle, null)) return;
    if (positions.length === 0) {
      // Nothing to store: the answer is ready, but waits for earlier ones.
      if (ack !== null) this.#answers.add({ bytes: ack, ready: true });
      if (carried !== undefined) intake.noteContact(this.#protocol.name, carried, this.lastReceivedMs, traces);
      return;
    }
    const { hasRivals = false } = carried === undefined ? this : (this.#carried.terminals.get(carried) ?? {});
    const taking = hasRivals && this.#context.isContested(terminalId) ? withConflict(positions) : positions;
    const answer: Answer = { bytes: ack, ready: false };
    const trace = traces.next();
    const facts = { trace, terminalId, positions: positions.length, clientAddress: this.address };
    const span = beginPacketSpan(tracing, { ...facts, protocol: this.#protocol.name, startMs: this.#chunkAtMs });
    const append = span.child('append');
    const taken = intake.take(this.#protocol.name, terminalId, taking, clock.now(), trace, () => {
      append.end();
      this.#answers.acknowledge(answer);
      span.end();
    });
    if (!taken) {
      span.end();
      // A video terminal may differ from the terminal that reports its vehicle's positions.
      if (!this.#context.isKnown(terminalId)) return this.#refuseUnknown(terminalId, null);
      metrics.withoutVehicle.inc(positions.length);
      this.#answers.add({ bytes: ack, ready: true });
      return;
    }
    const registration = carried === undefined ? this.#registration : null;
    if (vehicle !== undefined) contacts.note(vehicle, this.#protocol.name, registration, this.lastReceivedMs);
    this.#answers.add(answer);
    this.#packetsTaken++;
    this.#positionsTaken += positions.length;
  }

  /** Records that the connection's terminal sent messages without positions. */
  #noteContact(): void {
    const terminalId = this.#terminalId;
    const vehicle = terminalId === null ? undefined : this.#context.vehicleOf(terminalId);
    if (terminalId === null || vehicle === undefined || !this.#isAllowed(vehicle, null)) return;
    this.#context.intake.noteContact(this.#protocol.name, terminalId, this.lastReceivedMs, this.#context.traces);
  }

  #countTaken(): void {
    if (this.#packetsTaken === 0) return;
    this.#context.metrics.packets.inc(this.#packetsTaken);
    this.#context.metrics.positions.inc(this.#positionsTaken);
    this.#packetsTaken = 0;
    this.#positionsTaken = 0;
  }

  #say(): void {
    this.#answers.sendReady();
    if (this.#peerIsDone && this.#answers.size === 0) this.end();
  }

  /** Closes the connection because the terminal left too many answers unread. */
  #endUnread(): void {
    this.#ending = true;
    const { onRefused, traces } = this.#context;
    onRefused('answers-unread', `${this.#socket.writableLength} bytes`, this.address, traces.next());
    this.#socket.destroy();
  }

  #readOrNot(): void {
    if (this.#heldByGateway || this.#answers.size >= MAX_UNANSWERED) {
      if (!this.#socket.isPaused()) this.#socket.pause();
    } else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #refuseUnknown(terminalId: TerminalId, bytes: Buffer | null): void {
    const detail = `no vehicle has terminal ${JSON.stringify(terminalId)}`;
    this.#peer.list({ reason: 'unknown-terminal', detail, terminalIds: [terminalId] });
    this.#refuse('unknown-terminal', detail, bytes);
  }

  #refuse(reason: Refusal, detail: string, bytes: Buffer | null): void {
    this.#ending = true;
    this.#context.onRefused(reason, detail, this.address, this.#context.traces.next());
    this.#say();
    if (bytes && this.#socket.writable) this.#socket.write(bytes);
    this.#socket.end();
    // Closes the socket even if the peer does not close its side, whatever it sends.
    this.#deadline.cancel();
    this.#deadline = this.#context.clock.after(CLOSING_TIMEOUT_MS, () => this.#socket.destroy());
  }
}
