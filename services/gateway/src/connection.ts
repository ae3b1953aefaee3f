import type { Socket } from 'node:net';
import type {
  AccessRefusal,
  Clock,
  CommandOutcome,
  PacketTrace,
  Position,
  TerminalAccess,
  TerminalCommand,
  TerminalId,
  Timer,
  Vehicle,
} from '@outrider/domain';
import type { RefusedContact } from '@outrider/hub';
import type { Entry, Inbound, Protocol, RefusalReason, Session, TerminalCodes } from '@outrider/protocols';
import { NO_SPAN, type Span, type Tracing } from '@outrider/runtime';
import { CarriedTerminals } from './carried-terminals.ts';
import { type TerminalLink, withConflict } from './connected-terminals.ts';
import { FirstBytes } from './first-bytes.ts';
import type { FirstContacts } from './first-contacts.ts';
import type { Intake } from './intake.ts';
import type { ProtocolMetrics } from './metrics.ts';
import type { PacketTraces } from './packet-traces.ts';
import { PendingCommands } from './pending-commands.ts';
import { sessionOptions } from './session-options.ts';
import { isProven, type Shown } from './terminal-access.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** Unanswered packets of a terminal, at most; beyond it is not read from until some are answered. */
const MAX_UNANSWERED = 256;
const CLOSING_TIMEOUT_MS = 1000;

/** What a connection needs from the gateway. */
export interface ConnectionContext {
  intake: Intake;
  metrics: ProtocolMetrics;
  traces: PacketTraces;
  tracing: Tracing;
  idleTimeoutMs: number;
  /** How long a terminal may take to identify itself, however much it sends. */
  identifyTimeoutMs: number;
  unread: UnreadAnswers;
  clock: Clock;
  isKnown(terminalId: TerminalId): boolean;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  /** SHA-256 of the peer's certificate, where the connection is by TLS and it showed one. */
  certificateSha256: string | null;
  codes: TerminalCodes;
  contacts: FirstContacts;
  onWrongSecret(address: string): void;
  /** The vehicle of the terminal does not take it as it came: the refusal is kept for who installs it. */
  onAccessRefused(vehicle: Vehicle, refusal: AccessRefusal, address: string): void;
  /** Is the terminal's id in use at two places? Asked while it has several connections. */
  isContested(terminalId: TerminalId): boolean;
  /** Is the address blocked for this terminal, for having tried too many unknown ids? */
  isBlocked(terminalId: TerminalId, address: string): boolean;
  /** Key from which the secrets of terminals are derived. */
  terminalSecret: string;
  /** Called once the terminal has identified itself and accepts commands. */
  onIdentified(terminalId: TerminalId, connection: Connection): void;
  /** Called when one of several terminals in a connection begins to send, … */
  onCarried(terminalId: TerminalId, link: TerminalLink): void;
  /** … and when it sent nothing for the idle time, or the connection ended. */
  onCarriedEnd(terminalId: TerminalId, link: TerminalLink): void;
  /** Called for the first packet of such a terminal that was dropped in a connection. */
  onDropped(terminalId: TerminalId, reason: Refusal, address: string): void;
  onUnknown(terminalId: TerminalId, address: string, contact?: RefusedContact): void;
  /** The peer was refused before it said who it is. */
  onUnknownDevice(address: string, contact: RefusedContact): void;
  onText(terminalId: TerminalId | null, text: string): void;
  /** Called for the first message of a connection that can't be read. */
  onUnread(terminalId: TerminalId | null, detail: string): void;
  /** @param trace of what was refused */
  onRefused(reason: Refusal, detail: string, address: string, trace: PacketTrace): void;
}

/** Why the gateway, rather than the codec, ends a connection. */
export type ConnectionEnd = 'idle' | 'not-identified-in-time' | 'superseded' | 'answers-unread';

export type Refusal = RefusalReason | ConnectionEnd | AccessRefusal;

/** An answer in its place of the queue; null until it may be sent. */
interface Answer {
  bytes: Buffer | null;
  ready: boolean;
}

/**
 * The connection of a terminal, or of a platform that carries several: feeds the codec, hands positions to the intake,
 * and answers in the order in which the terminal asked, each answer only once what it acknowledges is durable.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #session: Session;
  readonly #protocol: Protocol;
  readonly #context: ConnectionContext;
  readonly #carried: CarriedTerminals;
  readonly #answers: Answer[] = [];
  readonly #commands: PendingCommands;
  #terminalId: TerminalId | null = null;
  /** Null once the terminal identified itself. */
  #first: FirstBytes | null = new FirstBytes('tcp');
  #lastReceivedMs = 0;
  #isAuthenticated = false;
  #secret: string | null = null;
  #showedCode = false;
  #registration: string | null = null;
  /** The access settings that this connection was checked against. */
  #checkedAccess: TerminalAccess | null = null;
  /** Whether the terminal has other connections; set by `ConnectedTerminals`. */
  hasRivals = false;
  #ending = false;
  /**
   * Ends the connection regardless of its data: at first when it does not identify itself in time, later when it does
   * not close in time.
   */
  #deadline: Timer;
  /** Bytes of answers that are noted as unread. */
  #unreadBytes = 0;
  #peerIsDone = false;
  #heldByGateway = false;
  /** When the current bytes came, by {@link Tracing.nowMs}; 0 while tracing is off. */
  #chunkAtMs = 0;
  #willSay = false;
  /** A message was left out, and logged: others of the same kind may follow. */
  #hasUnread = false;
  /** Acknowledged packets that are not counted yet: packets that came together are counted together. */
  #packetsTaken = 0;
  #positionsTaken = 0;
  #acknowledged = 0;

  constructor(socket: Socket, protocol: Protocol, context: ConnectionContext) {
    this.#socket = socket;
    this.#protocol = protocol;
    this.#session = protocol.createSession({
      ...sessionOptions(context),
      letIn: (forms, secret) => this.#letIn(forms, secret),
    });
    this.#context = context;
    this.#commands = new PendingCommands(context.clock);
    this.#carried = new CarriedTerminals(this.#address(), context);
    socket.setNoDelay(true);
    this.#deadline = context.clock.after(context.identifyTimeoutMs, () => {
      const detail = 'the terminal did not identify itself in time';
      this.#noteUnknown({ reason: 'not-identified-in-time', detail });
      this.#refuse('not-identified-in-time', detail, null);
    });
    socket.on('timeout', () => {
      if (!this.#ending) this.#refuse('idle', 'nothing was said in time', null);
    });
    socket.on('drain', () => this.#noteUnread());
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
      this.#carried.close();
      context.unread.note(this.#unreadBytes, 0);
      this.#unreadBytes = 0;
      this.#commands.end();
    });
  }

  /** The id that the terminal sent; null before. */
  get terminalId(): TerminalId | null {
    return this.#terminalId;
  }

  /** Unix milliseconds of the last data received. */
  get lastReceivedMs(): number {
    return this.#lastReceivedMs;
  }

  /** Did the terminal show a secret of its own, or a certificate? */
  get isAuthenticated(): boolean {
    return this.#isAuthenticated;
  }

  /** Of the peer. */
  get address(): string {
    return this.#address();
  }

  /** Does the terminal's protocol know commands? */
  get takesCommands(): boolean {
    return this.#session.command !== undefined;
  }

  /** Sends the terminal a command. Resolves with its answer, or with why it got none. */
  command(command: TerminalCommand, timeoutMs: number): Promise<CommandOutcome> {
    if (this.#ending || !this.#socket.writable || this.#terminalId === null)
      return Promise.resolve({ outcome: 'offline' });
    return this.#commands.give(this.#session, command, timeoutMs, (bytes) => this.#send(bytes));
  }

  /** Pauses or resumes reading, for the backpressure of the gateway. */
  hold(held: boolean): void {
    this.#heldByGateway = held;
    this.#readOrNot();
  }

  /** Sends the answers that are ready, then ends. */
  end(): void {
    this.#ending = true;
    this.#sayReady();
    this.#socket.end();
  }

  /** Ends because the terminal has newer connections. */
  supersede(): void {
    if (!this.#ending) this.#refuse('superseded', 'the terminal has too many connections', null);
  }

  /** Ends at once, with or without pending answers. */
  destroy(): void {
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    if (this.#ending) return;
    const { clock, tracing } = this.#context;
    if (tracing.isOn) this.#chunkAtMs = tracing.nowMs();
    this.#lastReceivedMs = clock.now();
    this.#first?.add(chunk);
    let saysMore = false;
    for (const inbound of this.#session.push(chunk, this.#lastReceivedMs)) {
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
        this.#secret = inbound.secret ?? null;
        this.#showedCode = inbound.showedCode ?? false;
        this.#registration = inbound.registration ?? null;
        return this.#identify([inbound.terminalId, ...(inbound.otherIds ?? [])], inbound.accept, inbound.reject);
      case 'positions':
        return this.#takePositions(inbound.positions, inbound.ack, inbound.terminalId);
      case 'reply':
        this.#answers.push({ bytes: inbound.bytes, ready: true });
        return;
      case 'text':
        this.#context.metrics.texts.inc(1);
        this.#context.onText(this.#terminalId, inbound.text);
        return;
      case 'unread':
        if (!this.#hasUnread) this.#context.onUnread(this.#terminalId, inbound.detail);
        this.#hasUnread = true;
        return this.#context.onRefused('bad-content', inbound.detail, this.#address(), this.#context.traces.next());
      case 'answer':
        return this.#commands.take(inbound.correlation, inbound.answer);
      case 'refuse':
        this.#noteUnknown(inbound);
        if (inbound.reason === 'wrong-secret') this.#context.onWrongSecret(this.#address());
        return this.#refuse(inbound.reason, inbound.detail, inbound.bytes);
    }
  }

  /** @param forms of the terminal's id; it has the first that is known, and is listed by the first where none is */
  #identify(forms: readonly [TerminalId, ...TerminalId[]], accept: Buffer | null, reject: Buffer | null): void {
    const terminalId = forms.find((form) => this.#context.isKnown(form));
    if (this.#context.isBlocked(terminalId ?? forms[0], this.#address()))
      return this.#refuse('address-blocked', 'the address tried too many unknown ids', null);
    if (terminalId === undefined) return this.#refuseUnknown(forms[0], reject);
    if (!this.#isAllowed(this.#context.vehicleOf(terminalId), reject)) return;
    this.#terminalId = terminalId;
    this.#isIdentified();
    if (accept) this.#answers.push({ bytes: accept, ready: true });
    this.#context.onIdentified(terminalId, this);
  }

  /** From now on only silence ends the connection. */
  #isIdentified(): void {
    this.#first = null;
    this.#deadline.cancel();
    this.#socket.setTimeout(this.#context.idleTimeoutMs);
  }

  /**
   * Decides about a packet of one of several terminals. A refusal does not end the connection, which would hold up the
   * data of all the others.
   */
  #letIn(forms: readonly [TerminalId, ...TerminalId[]], secret: string | null): Entry {
    const address = this.#address();
    const { vehicleOf, isBlocked, onUnknown, onWrongSecret } = this.#context;
    const terminalId = forms.find((form) => vehicleOf(form) !== undefined);
    if (isBlocked(terminalId ?? forms[0], address))
      return { type: 'blocked', detail: 'the address tried too many unknown ids' };
    const vehicle = terminalId === undefined ? undefined : vehicleOf(terminalId);
    if (terminalId === undefined || vehicle === undefined) {
      onUnknown(forms[0], address);
      for (const form of forms) this.#carried.end(form);
      return this.#drop(forms[0], 'unknown-terminal');
    }
    const { terminalAccess } = vehicle;
    const known = this.#carried.get(terminalId);
    if (known === undefined || terminalAccess !== known.checkedAccess || terminalAccess.protocol === 'learn') {
      const shown = this.#shown(secret, false);
      const refusal = this.#context.contacts.refusalOf(vehicle, shown);
      if (refusal === 'wrong-secret') onWrongSecret(address);
      if (refusal !== null) {
        this.#carried.end(terminalId);
        return this.#drop(terminalId, refusal, () => this.#context.onAccessRefused(vehicle, refusal, address));
      }
      if (this.#terminalId === null) this.#isIdentified();
      this.#carried.allow(terminalId, terminalAccess, isProven(terminalAccess, shown), this.#lastReceivedMs);
    }
    this.#carried.note(terminalId, this.#lastReceivedMs);
    return { type: 'taken', terminalId };
  }

  /** @param first called for the first packet of the terminal */
  #drop(terminalId: TerminalId, reason: Refusal, first = () => {}): Entry {
    const { onRefused, onDropped, traces } = this.#context;
    onRefused(reason, `a packet of terminal ${JSON.stringify(terminalId)}`, this.#address(), traces.next());
    if (this.#carried.isFirstDropped(terminalId)) {
      onDropped(terminalId, reason, this.#address());
      first();
    }
    return { type: 'refused' };
  }

  #shown(secret: string | null, showedCode: boolean): Shown {
    const { certificateSha256 } = this.#context;
    return { protocol: this.#protocol.name, address: this.#address(), certificateSha256, secret, showedCode };
  }

  /**
   * Held against the vehicle when the terminal identifies itself, and again when the vehicle changed. @returns whether
   * the connection goes on
   */
  #isAllowed(vehicle: Vehicle | undefined, reject: Buffer | null): boolean {
    // A video terminal that is not the one of its vehicle has nothing to show.
    if (vehicle === undefined) return true;
    const { terminalAccess } = vehicle;
    if (terminalAccess === this.#checkedAccess && terminalAccess.protocol !== 'learn') return true;
    const shown = this.#shown(this.#secret, this.#showedCode);
    const refusal = this.#context.contacts.refusalOf(vehicle, shown);
    if (refusal === null) {
      this.#checkedAccess = terminalAccess;
      this.#isAuthenticated = isProven(terminalAccess, shown);
      return true;
    }
    if (refusal === 'wrong-secret') this.#context.onWrongSecret(shown.address);
    this.#context.onAccessRefused(vehicle, refusal, shown.address);
    this.#refuse(refusal, `it is not taken for terminal ${JSON.stringify(vehicle.terminalId)}`, reject);
    return false;
  }

  /** @param carried the terminal of the packet where the connection carries several */
  #takePositions(positions: Position[], ack: Buffer | null, carried?: TerminalId): void {
    const terminalId = carried ?? this.#terminalId;
    if (terminalId === null) return this.#refuse('not-identified', 'data before the terminal said who it is', null);
    const { metrics, intake, traces, tracing, clock, contacts } = this.#context;
    const vehicle = this.#context.vehicleOf(terminalId);
    if (carried === undefined && !this.#isAllowed(vehicle, null)) return;
    if (positions.length === 0) {
      // Nothing to keep: answered in its turn, after what came before it.
      if (ack !== null) this.#answers.push({ bytes: ack, ready: true });
      if (carried !== undefined) intake.noteContact(this.#protocol.name, carried, this.#lastReceivedMs, traces);
      return;
    }
    const { hasRivals = false } = carried === undefined ? this : (this.#carried.get(carried) ?? {});
    const taking = hasRivals && this.#context.isContested(terminalId) ? withConflict(positions) : positions;
    const answer: Answer = { bytes: ack, ready: false };
    const trace = traces.next();
    const span = tracing.isOn ? this.#beginPacket(trace, terminalId, positions.length) : NO_SPAN;
    const append = span.child('append');
    const taken = intake.take(this.#protocol.name, terminalId, taking, clock.now(), trace, () => {
      append.end();
      answer.ready = true;
      this.#acknowledged++;
      // It goes out with the others that became durable now, unless an earlier packet of the terminal has yet to be.
      this.#saySoon();
      span.end();
    });
    if (!taken) {
      span.end();
      // A video terminal need not be the one that reports where its vehicle is.
      if (!this.#context.isKnown(terminalId)) return this.#refuseUnknown(terminalId, null);
      metrics.withoutVehicle.inc(positions.length);
      this.#answers.push({ bytes: ack, ready: true });
      return;
    }
    const registration = carried === undefined ? this.#registration : null;
    if (vehicle !== undefined) contacts.note(vehicle, this.#protocol.name, registration, this.#lastReceivedMs);
    this.#answers.push(answer);
    this.#packetsTaken++;
    this.#positionsTaken += positions.length;
  }

  /** The terminal of the connection sent messages, and no position among them. */
  #noteContact(): void {
    const terminalId = this.#terminalId;
    const vehicle = terminalId === null ? undefined : this.#context.vehicleOf(terminalId);
    if (terminalId === null || vehicle === undefined || !this.#isAllowed(vehicle, null)) return;
    const { intake, traces } = this.#context;
    intake.noteContact(this.#protocol.name, terminalId, this.#lastReceivedMs, traces);
  }

  #countTaken(): void {
    if (this.#packetsTaken === 0) return;
    const { metrics } = this.#context;
    metrics.packets.inc(this.#packetsTaken);
    metrics.positions.inc(this.#positionsTaken);
    this.#packetsTaken = 0;
    this.#positionsTaken = 0;
  }

  /** Acknowledges packets that became durable together, with one write. */
  #saySoon(): void {
    if (this.#willSay) return;
    this.#willSay = true;
    queueMicrotask(() => {
      this.#willSay = false;
      this.#context.metrics.acknowledged.inc(this.#acknowledged);
      this.#acknowledged = 0;
      this.#say();
      this.#readOrNot();
    });
  }

  /** The first span of a packet, from the reception of its bytes, with its decoding. */
  #beginPacket(trace: PacketTrace, terminalId: TerminalId, positions: number): Span {
    const span = this.#context.tracing.beginPacket(trace, 'packet', {
      kind: 'server',
      startMs: this.#chunkAtMs,
      facts: {
        'outrider.protocol': this.#protocol.name,
        'outrider.terminal.id': terminalId,
        'outrider.positions': positions,
        'client.address': this.#address(),
      },
    });
    span.child('decode', this.#chunkAtMs).end();
    return span;
  }

  #say(): void {
    this.#sayReady();
    if (this.#peerIsDone && this.#answers.length === 0) this.end();
  }

  /** Sends every answer whose turn has come, as one write. */
  #sayReady(): void {
    const answers = this.#answers;
    let ready = 0;
    while (ready < answers.length && answers[ready]?.ready) ready++;
    const said = answers.splice(0, ready);
    if (said.length > 0 && this.#socket.writable) this.#write(said);
  }

  #write(said: readonly Answer[]): void {
    if (said.length === 1) {
      const bytes = said[0]?.bytes;
      if (bytes) this.#send(bytes);
    } else {
      this.#send(Buffer.concat(said.map(({ bytes }) => bytes).filter((bytes) => bytes !== null)));
    }
  }

  #send(bytes: Buffer): void {
    this.#socket.write(bytes);
    if (this.#noteUnread()) return;
    this.#ending = true;
    const { onRefused, traces } = this.#context;
    onRefused('answers-unread', `${this.#socket.writableLength} bytes`, this.#address(), traces.next());
    this.#socket.destroy();
  }

  /** @returns whether the connection may go on */
  #noteUnread(): boolean {
    const bytes = this.#socket.writableLength;
    // The system accepts most answers at once.
    if (bytes === 0 && this.#unreadBytes === 0) return true;
    const before = this.#unreadBytes;
    this.#unreadBytes = bytes;
    return this.#context.unread.note(before, bytes);
  }

  #readOrNot(): void {
    if (this.#heldByGateway || this.#answers.length >= MAX_UNANSWERED) {
      if (!this.#socket.isPaused()) this.#socket.pause();
    } else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #refuseUnknown(terminalId: TerminalId, bytes: Buffer | null): void {
    const detail = `no vehicle has terminal ${JSON.stringify(terminalId)}`;
    this.#context.onUnknown(terminalId, this.#address(), this.#first?.contact('unknown-terminal', detail));
    this.#refuse('unknown-terminal', detail, bytes);
  }

  /** Lists a peer that is refused for another reason: it would be listed nowhere. */
  #noteUnknown(refusal: { reason: string; detail: string; terminalIds?: readonly TerminalId[] }): void {
    const { reason, detail, terminalIds = [] } = refusal;
    const [first] = terminalIds;
    const contact = this.#first?.contact(reason, detail);
    if (first === undefined) {
      if (contact !== undefined) this.#context.onUnknownDevice(this.#address(), contact);
    } else if (!terminalIds.some((form) => this.#context.isKnown(form)))
      this.#context.onUnknown(first, this.#address(), contact);
  }

  #refuse(reason: Refusal, detail: string, bytes: Buffer | null): void {
    this.#ending = true;
    this.#context.onRefused(reason, detail, this.#address(), this.#context.traces.next());
    this.#say();
    if (bytes && this.#socket.writable) this.#socket.write(bytes);
    this.#socket.end();
    // Does not wait for a peer that does not close its side, whatever it sends.
    this.#deadline.cancel();
    this.#deadline = this.#context.clock.after(CLOSING_TIMEOUT_MS, () => this.#socket.destroy());
  }

  #address(): string {
    return this.#socket.remoteAddress ?? 'unknown';
  }
}
