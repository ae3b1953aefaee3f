import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { sourceOf } from '@outrider/auth';
import type { Clock, PacketTrace, Position, TerminalId, Vehicle } from '@outrider/domain';
import type { RefusedContact } from '@outrider/hub';
import type { DatagramSide, Inbound, Protocol, Session } from '@outrider/protocols';
import type { Tracing } from '@outrider/runtime';
import { withConflict } from '../connection/connected-terminals.ts';
import { contactOf } from '../connection/first-bytes.ts';
import { PendingCommands } from '../connection/pending-commands.ts';
import type { Intake } from '../intake.ts';
import type { ProtocolMetrics } from '../metrics.ts';
import { beginPacketSpan, type PacketTraces } from '../packet-traces.ts';
import type { Refusal } from '../refusal.ts';
import { type RefusalContext, TerminalCheck } from '../terminal-check.ts';
import type { DatagramLinks } from './datagram-links.ts';
import type { DatagramPeer, DatagramPeers } from './datagram-peers.ts';
import type { DatagramRates } from './datagram-rates.ts';

/** Terminals send no longer datagrams, because networks would fragment them. */
const MAX_DATAGRAM_BYTES = 16 * 1024;
/** Maximum of datagrams that are not yet durable: per terminal, and for all terminals of the protocol. */
const MAX_WAITING_PER_TERMINAL = 16;
const MAX_WAITING = 10_000;
/**
 * Longest answer relative to its datagram. The source address of a datagram may be forged, and the holder of the
 * address gets the answer. QUIC has the same limit before it has verified an address (RFC 9000, 8.1).
 */
const MAX_AMPLIFICATION = 3;
/** Size of the socket's receive buffer: after an outage the terminals of a fleet all send at the same moment. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Dependencies of a protocol's datagram server. */
export interface DatagramContext extends RefusalContext {
  intake: Intake;
  metrics: ProtocolMetrics;
  traces: PacketTraces;
  tracing: Tracing;
  clock: Clock;
  /** Whether the log can't take more: then datagrams are dropped, and their terminals send them again. */
  isHeld(): boolean;
  rates: DatagramRates;
  peers: DatagramPeers;
  links: DatagramLinks;
  createSession(): Session;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  isBlocked(terminalId: TerminalId, address: string): boolean;
  /** @returns whether two devices use the terminal's id */
  noteRequest(terminalId: TerminalId, address: string): boolean;
  onIdentified(terminalId: TerminalId, address: string): void;
  onUnknown(terminalId: TerminalId, address: string, contact: RefusedContact): void;
  onUnknownDevice(address: string, contact: RefusedContact): void;
  onText(terminalId: TerminalId | null, text: string): void;
  onRefused(reason: DatagramRefusal, detail: string, address: string, trace: PacketTrace): void;
  onError(error: Error): void;
}

/** Reason why a datagram was not read or not answered. */
export type DatagramRefusal =
  | Refusal
  | 'held'
  | 'too-many-of-address'
  | 'too-many-connections'
  | 'too-many-unidentified'
  | 'too-many-waiting'
  | 'answer-too-long';

/** The UDP listener of one protocol. */
export interface DatagramServer {
  /** @returns the port */
  listen(port: number, host: string): Promise<number>;
  /** Stops reading; pending answers are still sent. */
  pause(): void;
  close(): Promise<void>;
}

/**
 * Receives datagrams. Each is decoded completely, and its packets are appended to the log. Once all of them are
 * durable, it is answered by one datagram to its origin. A datagram that can't be taken now is dropped; its terminal
 * sends it again.
 */
export function createDatagramServer(
  protocol: Protocol & { datagrams: DatagramSide },
  context: DatagramContext,
): DatagramServer {
  const waiting: Waiting = { all: 0, byTerminal: new Map() };
  let socket: Socket | null = null;
  let isPaused = false;
  return {
    async listen(port, host) {
      const opened = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
      opened.bind({ port, address: host, exclusive: true });
      await once(opened, 'listening');
      opened.on('error', context.onError);
      opened.on('message', (bytes, from) => {
        if (isPaused) return;
        const answer = (text: Buffer) => {
          // A peer that did not get the answer sends again, or is gone.
          if (socket !== null) socket.send(text, from.port, from.address, () => {});
        };
        new DatagramExchange(protocol, context, waiting, bytes, from, answer).run();
      });
      socket = opened;
      return opened.address().port;
    },
    pause() {
      isPaused = true;
    },
    async close() {
      context.links.close();
      const open = socket;
      socket = null;
      if (open !== null) await new Promise<void>((resolve) => open.close(resolve));
    },
  };
}

/** Number of datagrams whose packets are not yet durable. */
interface Waiting {
  all: number;
  readonly byTerminal: Map<TerminalId, number>;
}

/** One datagram and its answer. */
class DatagramExchange {
  readonly #protocol: Protocol & { datagrams: DatagramSide };
  readonly #context: DatagramContext;
  readonly #waiting: Waiting;
  readonly #bytes: Buffer;
  readonly #address: string;
  readonly #key: string;
  readonly #send: (bytes: Buffer) => void;
  readonly #trace: PacketTrace;
  /** In the order of the frames. */
  readonly #answers: Buffer[] = [];
  /** Packets that are not durable yet, plus one while the datagram is being read. */
  #pending = 1;
  #acknowledged = 0;
  /** Whether the rest of the datagram is ignored. */
  #isOver = false;
  /** Whether the datagram was refused rather than merely dropped: its session or its terminal is invalid. */
  #isBad = false;
  #atMs = 0;

  constructor(
    protocol: Protocol & { datagrams: DatagramSide },
    context: DatagramContext,
    waiting: Waiting,
    bytes: Buffer,
    from: RemoteInfo,
    send: (bytes: Buffer) => void,
  ) {
    this.#protocol = protocol;
    this.#context = context;
    this.#waiting = waiting;
    this.#bytes = bytes;
    this.#address = from.address;
    this.#key = `${from.address} ${from.port}`;
    this.#send = send;
    this.#trace = context.traces.next();
  }

  run(): void {
    const { metrics, rates, isHeld, clock, peers, links, tracing } = this.#context;
    metrics.datagrams.inc(1);
    if (tracing.isOn) this.#atMs = tracing.nowMs();
    const source = sourceOf(this.#address);
    if (!rates.admit(source)) return this.#drop('too-many-of-address', 'too many datagrams of this address');
    if (isHeld()) return this.#drop('held', 'nothing can be stored now');
    if (this.#waiting.all >= MAX_WAITING) return this.#drop('too-many-waiting', 'too many datagrams wait for the log');
    if (this.#bytes.length > MAX_DATAGRAM_BYTES)
      return this.#refuse('bad-length', `a datagram of more than ${MAX_DATAGRAM_BYTES} bytes`);
    const isRemembered = this.#protocol.datagrams.identification === 'login';
    const known = isRemembered ? peers.of(this.#key) : undefined;
    const peer = known ?? links.waiting(this.#key) ?? this.#newPeer();
    const receivedAtMs = clock.now();
    const messages = peer.session.push(this.#bytes, receivedAtMs);
    const unfinished = peer.session.dropUnfinished();
    for (const message of messages) {
      this.#handle(message, peer, receivedAtMs);
      if (this.#isOver) break;
    }
    // After a refusal the session returns nothing more. A partial frame is discarded and does no harm.
    if (this.#isBad) {
      peers.forget(this.#key);
      links.end(this.#key);
    } else {
      if (isRemembered && known === undefined) this.#remember(peer);
      if (!this.#isOver && peer.terminalId !== null && peer.session.command !== undefined)
        links.note(this.#key, { peer, address: this.#address, send: this.#send }, peer.terminalId);
    }
    const saysMore = messages.some(({ type }) => type !== 'identify');
    if (saysMore && !this.#isOver && peer.terminalId !== null && this.#pending === 1)
      this.#context.intake.noteContact(this.#protocol.name, peer.terminalId, receivedAtMs, this.#context.traces);
    if (unfinished > 0 && !this.#isOver)
      this.#refuse('bad-length', `it ends within a frame, after ${unfinished} bytes`, peer);
    if (this.#isBad) rates.noteRefused(source);
    this.#settle();
  }

  #newPeer(): DatagramPeer {
    const context = this.#context;
    const { name } = this.#protocol;
    return {
      session: context.createSession(),
      terminalId: null,
      registration: null,
      // Without TLS there is no certificate, so a vehicle that requires one refuses the datagram.
      check: new TerminalCheck({ protocol: name, address: this.#address, certificateSha256: null }, context),
      commands: new PendingCommands(context.clock),
    };
  }

  #remember(peer: DatagramPeer): void {
    const { peers, onWrongSecret } = this.#context;
    if (peer.terminalId === null) {
      // The terminal sent a wrong code; the answer reports it.
      if (this.#answers.length > 0) onWrongSecret(this.#address);
      return;
    }
    const refusal = peers.remember(this.#key, this.#address, peer, peer.terminalId);
    if (refusal !== null) this.#drop(refusal, 'too many terminals');
  }

  #handle(message: Inbound, peer: DatagramPeer, receivedAtMs: number): void {
    const { metrics, onText } = this.#context;
    switch (message.type) {
      case 'identify':
        return this.#identify(message, peer);
      case 'positions':
        return this.#take(message.positions, message.ack, peer, receivedAtMs);
      case 'reply':
        this.#answers.push(message.bytes);
        return;
      case 'text':
        metrics.texts.inc(1);
        onText(peer.terminalId, message.text);
        return;
      case 'unread':
        return this.#context.onRefused('bad-content', message.detail, this.#address, this.#trace);
      case 'refuse':
        if (message.reason === 'wrong-secret') this.#context.onWrongSecret(this.#address);
        // Unidentified peers get no answer: anybody may have sent the datagram.
        if (peer.terminalId !== null && message.bytes !== null) this.#answers.push(message.bytes);
        return this.#refuse(message.reason, message.detail, peer, message.terminalIds);
      case 'answer':
        return peer.commands.take(message.correlation, message.answer);
    }
  }

  #identify(message: Extract<Inbound, { type: 'identify' }>, peer: DatagramPeer): void {
    const { vehicleOf, isBlocked, onUnknown, onIdentified } = this.#context;
    const forms = [message.terminalId, ...(message.otherIds ?? [])];
    const terminalId = forms.find((form) => vehicleOf(form) !== undefined);
    const vehicle = terminalId === undefined ? undefined : vehicleOf(terminalId);
    if (isBlocked(terminalId ?? message.terminalId, this.#address))
      return this.#drop('address-blocked', 'the address tried too many unknown ids');
    if (terminalId === undefined || vehicle === undefined) {
      const detail = `no vehicle has terminal ${JSON.stringify(message.terminalId)}`;
      onUnknown(message.terminalId, this.#address, contactOf('udp', this.#bytes, 'unknown-terminal', detail));
      return this.#reject('unknown-terminal', detail, message.reject);
    }
    peer.check.show(message);
    peer.registration = message.registration ?? null;
    if (!this.#isAllowed(vehicle, peer, message.reject)) return;
    peer.terminalId = terminalId;
    if (message.accept !== null) this.#answers.push(message.accept);
    onIdentified(terminalId, this.#address);
  }

  /**
   * Checks the vehicle's access settings when the terminal identifies itself, and again when the vehicle has changed.
   */
  #isAllowed(vehicle: Vehicle, peer: DatagramPeer, reject: Buffer | null): boolean {
    const refusal = peer.check.refusalOf(vehicle);
    if (refusal === null) return true;
    this.#reject(refusal, `it is not taken for terminal ${JSON.stringify(vehicle.terminalId)}`, reject);
    return false;
  }

  #take(positions: Position[], ack: Buffer | null, peer: DatagramPeer, receivedAtMs: number): void {
    const { intake, metrics, contacts, vehicleOf, noteRequest, traces } = this.#context;
    const { terminalId } = peer;
    if (terminalId === null) return this.#refuse('not-identified', 'data before the terminal said who it is', peer);
    const vehicle = vehicleOf(terminalId);
    if (vehicle === undefined)
      return this.#reject('unknown-terminal', `no vehicle has terminal ${JSON.stringify(terminalId)}`, null);
    if (!this.#isAllowed(vehicle, peer, null)) return;
    if (positions.length === 0) {
      if (ack !== null) this.#answers.push(ack);
      return;
    }
    const ofTerminal = this.#waiting.byTerminal.get(terminalId) ?? 0;
    if (ofTerminal >= MAX_WAITING_PER_TERMINAL)
      return this.#drop('too-many-waiting', 'too many datagrams of the terminal wait for the log');
    const taking = noteRequest(terminalId, this.#address) ? withConflict(positions) : positions;
    const { name } = this.#protocol;
    const trace = this.#acknowledged === 0 && this.#pending === 1 ? this.#trace : traces.next();
    const facts = { trace, terminalId, positions: positions.length, clientAddress: this.#address };
    const span = beginPacketSpan(this.#context.tracing, { ...facts, protocol: name, startMs: this.#atMs });
    const append = span.child('append');
    const durable = () => {
      append.end();
      span.end();
      this.#leave(terminalId);
      this.#acknowledged++;
      this.#settle();
    };
    // Succeeds, because the vehicle was found above.
    intake.take(name, terminalId, taking, receivedAtMs, trace, durable);
    this.#pending++;
    this.#waiting.all++;
    this.#waiting.byTerminal.set(terminalId, ofTerminal + 1);
    if (ack !== null) this.#answers.push(ack);
    contacts.note(vehicle, name, peer.registration, receivedAtMs);
    metrics.packets.inc(1);
    metrics.positions.inc(positions.length);
  }

  #leave(terminalId: TerminalId): void {
    this.#waiting.all--;
    const left = (this.#waiting.byTerminal.get(terminalId) ?? 1) - 1;
    if (left > 0) this.#waiting.byTerminal.set(terminalId, left);
    else this.#waiting.byTerminal.delete(terminalId);
  }

  /** Sends the answer once the datagram is read and all of it is durable. */
  #settle(): void {
    this.#pending--;
    if (this.#pending > 0) return;
    this.#context.metrics.acknowledged.inc(this.#acknowledged);
    const answer = Buffer.concat(this.#answers);
    if (answer.length === 0) return;
    if (answer.length > MAX_AMPLIFICATION * this.#bytes.length)
      return this.#drop('answer-too-long', `an answer of ${answer.length} bytes to ${this.#bytes.length}`);
    this.#send(answer);
  }

  /** Refuses a peer that is no terminal of a vehicle. The answer is no longer than the datagram. */
  #reject(reason: DatagramRefusal, detail: string, bytes: Buffer | null): void {
    this.#isBad = true;
    this.#drop(reason, detail);
    if (bytes !== null && bytes.length <= this.#bytes.length) this.#answers.push(bytes);
  }

  #refuse(reason: Refusal, detail: string, peer?: DatagramPeer, forms: readonly TerminalId[] = []): void {
    this.#isBad = true;
    this.#drop(reason, detail);
    const { vehicleOf, onUnknown, onUnknownDevice } = this.#context;
    if (peer !== undefined && peer.terminalId !== null) return;
    const contact = contactOf('udp', this.#bytes, reason, detail);
    const [first] = forms;
    if (first === undefined) onUnknownDevice(this.#address, contact);
    else if (!forms.some((form) => vehicleOf(form) !== undefined)) onUnknown(first, this.#address, contact);
  }

  #drop(reason: DatagramRefusal, detail: string): void {
    this.#isOver = true;
    this.#context.onRefused(reason, detail, this.#address, this.#trace);
  }
}
