import { randomUUID } from 'node:crypto';
import {
  type AccessRefusal,
  type Clock,
  OPEN_ACCESS,
  type PacketTrace,
  type ProtocolName,
  type TerminalId,
  type Vehicle,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { TerminalReports, TopicMessage, TopicProtocol } from '@outrider/protocols';
import { Gauge, type Logger, type Metrics, type Tracing } from '@outrider/runtime';
import type { FirstContacts } from '../first-contacts.ts';
import type { Intake } from '../intake.ts';
import type { ProtocolMetrics } from '../metrics.ts';
import { beginPacketSpan, type PacketTraces } from '../packet-traces.ts';
import { resolve } from '../resolve.ts';
import type { BrokerConnection, ConnectBroker } from './connection.ts';
import { matches, type TopicRoute } from './topics.ts';

/** Shown by `/health/ready`: the gateway works without the broker, but published messages wait there. */
const BROKER_WARNING = 'the broker is not connected: what is published there waits';

/** Lease duration: another gateway replaces a crashed one after this time. */
const LEASE_MS = 15_000;
const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 30_000;
/** After a connection of this length the reconnect delay starts again from its minimum. */
const GOOD_AFTER_MS = 60_000;
/** An unknown terminal is recorded at most once in this time. */
const NOTED_MS = 60_000;
const MAX_NOTED = 10_000;

export interface BrokerSourceParts {
  connect: ConnectBroker;
  routes: readonly TopicRoute[];
  /** Host of the broker, which stands for the address of its terminals. */
  address: string;
  clientId: string;
  hub: Pick<Hub, 'holdLease' | 'releaseLease' | 'noteUnknownTerminal'>;
  logger: Logger;
  registry: Metrics;
  metricsOf(protocol: ProtocolName): ProtocolMetrics;
  intake: Intake;
  traces: PacketTraces;
  tracing: Tracing;
  contacts: FirstContacts;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  onRefused(protocol: ProtocolName, reason: string, detail: string, trace: PacketTrace): void;
  onAccessRefused(protocol: ProtocolName, vehicle: Vehicle, refusal: AccessRefusal): void;
  clock: Clock;
}

type State = 'standby' | 'connecting' | 'connected';

/**
 * The topics of a broker as a source of data. A lease lets only one gateway read them at a time. If two gateways both
 * believe that they hold it, the broker disconnects the first, because both use the same client id. A message is
 * acknowledged once its data is durable; the broker sends unacknowledged ones again to the next connection.
 *
 * The broker is trusted, because it is configured with its credentials: of a vehicle's access settings only the
 * protocol is checked.
 */
export class BrokerSource {
  readonly #parts: BrokerSourceParts;
  readonly #holder = randomUUID();
  readonly #leaseKey: string;
  readonly #connected: Gauge;
  readonly #noted = new Map<TerminalId, number>();
  #state: State = 'standby';
  #connection: BrokerConnection | null = null;
  #isHeld = false;
  #isStopping = false;
  #hasLease = false;
  #lastReason: string | null = null;
  #wake: () => void = () => {};
  #running: Promise<void> = Promise.resolve();

  constructor(parts: BrokerSourceParts) {
    this.#parts = parts;
    this.#leaseKey = `broker:${parts.address}:${parts.clientId}`;
    this.#connected = new Gauge({
      name: 'outrider_broker_connected',
      help: '1 if this gateway is subscribed to the topics of the broker, otherwise 0',
      registers: [parts.registry],
    });
  }

  /** Empty while the broker is read, by this gateway or another one. */
  get warnings(): readonly string[] {
    if (this.#state !== 'connecting') return [];
    return [this.#lastReason === null ? BROKER_WARNING : `${BROKER_WARNING} (${this.#lastReason})`];
  }

  start(): void {
    this.#running = this.#run();
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#connection?.hold(isHeld || this.#isStopping);
  }

  /** Stops reading, so that pending data can become durable and be acknowledged. */
  pause(): void {
    this.#isStopping = true;
    this.#connection?.hold(true);
  }

  async stop(): Promise<void> {
    this.pause();
    this.#connection?.end();
    this.#wake();
    await this.#running;
    if (!this.#hasLease) return;
    await this.#parts.hub.releaseLease(this.#leaseKey, this.#holder).catch(() => {});
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts;
    let pauseMs = FIRST_PAUSE_MS;
    while (!this.#isStopping) {
      const isHolder = await this.#holdLease();
      if (this.#isStopping) return;
      if (!isHolder) {
        this.#setState('standby');
        await this.#wait(LEASE_MS / 3);
        continue;
      }
      const startedMs = clock.steadyMs();
      await this.#connectOnce();
      if (this.#isStopping) return;
      if (clock.steadyMs() - startedMs > GOOD_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      await this.#wait(pauseMs * (0.5 + Math.random() / 2));
      pauseMs = Math.min(LAST_PAUSE_MS, 2 * pauseMs);
    }
  }

  /** @returns false if another gateway holds the lease, or the hub fails */
  async #holdLease(): Promise<boolean> {
    try {
      this.#hasLease = await this.#parts.hub.holdLease(this.#leaseKey, this.#holder, LEASE_MS);
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'cannot ask for the lease of the broker');
      this.#hasLease = false;
    }
    return this.#hasLease;
  }

  /** Resolves when the connection ended. */
  #connectOnce(): Promise<void> {
    const { connect, logger, address, clock } = this.#parts;
    this.#setState('connecting');
    return new Promise((resolve) => {
      const renewing = clock.every(LEASE_MS / 3, () => void this.#renew());
      this.#connection = connect({
        onReady: () => {
          this.#setState('connected');
          this.#lastReason = null;
          logger.info({ address, topics: this.#parts.routes.map(({ filter }) => filter) }, 'reading the broker');
        },
        onMessage: (message, acknowledge) => this.#take(message, acknowledge ?? (() => {})),
        onClosed: (reason) => {
          renewing.cancel();
          this.#connection = null;
          if (!this.#isStopping) this.#setState('connecting');
          // A repeated reason is not logged again.
          if (!this.#isStopping && reason !== this.#lastReason)
            logger.warn({ address, reason }, 'no connection to the broker; retrying');
          this.#lastReason = reason;
          resolve();
        },
      });
      this.#connection?.hold(this.#isHeld);
    });
  }

  /** Renews the lease. While the hub fails the connection stays, because no other gateway can get the lease either. */
  async #renew(): Promise<void> {
    try {
      this.#hasLease = await this.#parts.hub.holdLease(this.#leaseKey, this.#holder, LEASE_MS);
    } catch {
      return;
    }
    if (this.#hasLease) return;
    this.#parts.logger.info('another gateway reads the broker');
    this.#connection?.end();
  }

  #take(message: TopicMessage, acknowledge: () => void): void {
    const route = this.#parts.routes.find(({ filter }) => matches(filter, message.topic));
    if (route === undefined) {
      this.#refuse('mqtt', 'unsupported', `topic ${JSON.stringify(message.topic.slice(0, 200))} is not configured`);
      return acknowledge();
    }
    const { protocol } = route;
    const startMs = this.#parts.tracing.nowMs();
    const receivedAtMs = this.#parts.clock.now();
    const read = protocol.topics.decode(message, receivedAtMs);
    if ('refused' in read) {
      this.#refuse(protocol.name, read.refused, read.detail);
      return acknowledge();
    }
    this.#takeReports(protocol, read, receivedAtMs, startMs, () => {
      this.#parts.metricsOf(protocol.name).acknowledged.inc(1);
      acknowledge();
    });
  }

  /** Skips reports that can't be taken: otherwise the broker would send the message again for ever. */
  #takeReports(
    protocol: TopicProtocol,
    { reports, unread = [] }: TerminalReports,
    receivedAtMs: number,
    startMs: number,
    durable: () => void,
  ): void {
    for (const { refused, detail } of unread) this.#refuse(protocol.name, refused, detail);
    let underWay = 1;
    const done = () => {
      underWay--;
      if (underWay === 0) durable();
    };
    for (const report of reports) {
      const { terminalId, vehicle, positions } = resolve(report, this.#parts.vehicleOf);
      if (vehicle === undefined) {
        this.#noteUnknown(protocol.name, terminalId, receivedAtMs);
        continue;
      }
      if (!this.#isLetIn(vehicle, protocol.name)) {
        if (this.#isDue(terminalId, receivedAtMs))
          this.#parts.onAccessRefused(protocol.name, vehicle, 'wrong-protocol');
        this.#refuse(protocol.name, 'wrong-protocol', `not taken for terminal ${JSON.stringify(terminalId)}`);
        continue;
      }
      if (positions.length === 0) {
        this.#parts.intake.noteContact(protocol.name, terminalId, receivedAtMs, this.#parts.traces);
        continue;
      }
      underWay++;
      const span = this.#beginSpan(protocol.name, terminalId, positions.length, startMs);
      const taken = this.#parts.intake.take(protocol.name, terminalId, positions, receivedAtMs, span.trace, () => {
        span.end();
        done();
      });
      if (!taken) {
        underWay--;
        continue;
      }
      this.#parts.contacts.note(vehicle, protocol.name, null, receivedAtMs);
      const metrics = this.#parts.metricsOf(protocol.name);
      metrics.packets.inc(1);
      metrics.positions.inc(positions.length);
    }
    done();
  }

  #beginSpan(protocol: ProtocolName, terminalId: TerminalId, positions: number, startMs: number) {
    const { tracing, traces, address } = this.#parts;
    const trace = traces.next();
    const span = beginPacketSpan(tracing, { trace, startMs, protocol, terminalId, positions, serverAddress: address });
    const append = span.child('append');
    const end = () => {
      append.end();
      span.end();
    };
    return { trace, end };
  }

  #isLetIn(vehicle: Vehicle, protocol: ProtocolName): boolean {
    const { contacts, address } = this.#parts;
    const access = { ...OPEN_ACCESS, protocol: vehicle.terminalAccess.protocol };
    const shown = { protocol, address, certificateSha256: null, secret: null, showedCode: false };
    return contacts.refusalOf(vehicle, shown, access) === null;
  }

  #noteUnknown(protocol: ProtocolName, terminalId: TerminalId, nowMs: number): void {
    const { hub, address, logger } = this.#parts;
    this.#refuse(protocol, 'unknown-terminal', `no vehicle has terminal ${JSON.stringify(terminalId)}`);
    if (!this.#isDue(terminalId, nowMs)) return;
    hub
      .noteUnknownTerminal(terminalId, protocol, address, nowMs)
      .catch((error) => logger.warn({ err: error, terminalId }, 'cannot note an unknown terminal'));
  }

  /** Whether to record a refused terminal. Limited, because a broker may send many messages of it. */
  #isDue(terminalId: TerminalId, nowMs: number): boolean {
    if (nowMs < (this.#noted.get(terminalId) ?? -Infinity) + NOTED_MS) return false;
    if (this.#noted.size >= MAX_NOTED) this.#noted.clear();
    this.#noted.set(terminalId, nowMs);
    return true;
  }

  #refuse(protocol: ProtocolName, reason: string, detail: string): void {
    this.#parts.onRefused(protocol, reason, detail, this.#parts.traces.next());
  }

  #setState(state: State): void {
    this.#state = state;
    this.#connected.set(state === 'connected' ? 1 : 0);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#parts.clock.after(ms, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
      if (this.#isStopping) this.#wake();
    });
  }
}
