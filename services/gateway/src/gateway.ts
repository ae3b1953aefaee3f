import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { BlockList, Server, Socket } from 'node:net';
import { sourceOf } from '@outrider/auth';
import {
  type AccessRefusal,
  type Clock,
  Directory,
  type PacketTrace,
  type ProtocolName,
  type TerminalId,
  type Vehicle,
  withoutCustomFields,
} from '@outrider/domain';
import { type Hub, type RefusedContact, serveTerminalCommands, type TerminalPresence } from '@outrider/hub';
import { followDefinitions, type Log, type Subscription } from '@outrider/log';
import {
  type DatagramSide,
  datagramProtocols,
  type HttpProtocol,
  httpProtocols,
  type Protocol,
  tcpProtocols,
} from '@outrider/protocols';
import { type Logger, type Metrics, NO_TRACING, type Part, surviveAcceptErrors, type Tracing } from '@outrider/runtime';
import { Admission, type Slot } from './admission.ts';
import { BodyBudget } from './bodies.ts';
import { BrokerSource } from './broker/source.ts';
import { topicRoutesOf } from './broker/topics.ts';
import { ClockWatch } from './clock-watch.ts';
import { ConnectedTerminals } from './connection/connected-terminals.ts';
import { Connection } from './connection/connection.ts';
import { readProxyHeaders } from './connection/proxied-connections.ts';
import { createTcpServers } from './connection/tcp-servers.ts';
import { openTlsIdentity, type TlsFiles, type TlsIdentity } from './connection/tls-identity.ts';
import { UnreadAnswers } from './connection/unread-answers.ts';
import { DatagramLinks } from './datagrams/datagram-links.ts';
import { DatagramPeers } from './datagrams/datagram-peers.ts';
import { DatagramRates } from './datagrams/datagram-rates.ts';
import { createDatagramServer, type DatagramServer } from './datagrams/datagram-server.ts';
import { FirstContacts } from './first-contacts.ts';
import { createHttpServers } from './http-servers.ts';
import { Intake } from './intake.ts';
import { gatewayMetrics, type ProtocolMetrics } from './metrics.ts';
import { PacketTraces } from './packet-traces.ts';
import { sessionOptions } from './session-options.ts';
import { refusalDetail } from './terminal-access.ts';
import { terminalCodes } from './terminal-codes.ts';
import { UnknownBudget } from './unknown-budget.ts';
import { UnknownDevices } from './unknown-devices.ts';

export interface GatewayConfig {
  host: string;
  /** Port by protocol; 0 takes any free one, null leaves the protocol out. */
  ports: Readonly<Record<ProtocolName, number | null>>;
  /** Listens by UDP too, for protocols that have it, on the same ports. */
  udp: boolean;
  /** Datagrams of one address that are read in a second. */
  maxDatagramsPerAddress: number;
  /** For each protocol. */
  maxConnections: number;
  /** Listeners by TLS; null: none. */
  tls: (TlsFiles & { ports: Record<ProtocolName, number | null> }) | null;
  /** Of these, from one address. */
  maxConnectionsPerAddress: number;
  /** Whose connections begin with a header of the PROXY protocol; null: nobody's. */
  proxies: BlockList | null;
  /** Ids without a vehicle that one address may try in a minute. */
  unknownPerMinute: number;
  idleTimeoutMs: number;
  /** What the requests of platforms must show, by protocol. Without one, each vehicle says for itself. */
  platformTokens: Readonly<Partial<Record<ProtocolName, string | null>>>;
  /** Null: no broker is read. */
  broker: BrokerConfig | null;
  /** Codes of registering terminals are derived from it: the same in all gateways. */
  terminalSecret: string;
}

/** A broker whose topics are a source. */
export interface BrokerConfig {
  /** With user and password. */
  url: string;
  /** The same in all gateways. */
  clientId: string;
  /** `<protocol>:<filter>` with commas. */
  topics: string;
}

export interface GatewayParts {
  config: GatewayConfig;
  log: Log;
  hub: Hub;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
}

export interface Gateway extends Part {
  /** Open ports by protocol. */
  readonly ports: Record<ProtocolName, number>;
  /** The TLS ports. */
  readonly tlsPorts: Record<ProtocolName, number>;
  /** The UDP ports. */
  readonly udpPorts: Record<ProtocolName, number>;
  /** False while the log cannot be appended to. */
  readonly healthy: boolean;
  /** What an operator must know although the gateway works. */
  readonly warnings: readonly string[];
}

const IDENTIFY_TIMEOUT_MS = 30_000;
/** Characters of a terminal's text that a log line holds. */
const MAX_LOGGED_TEXT = 1000;
/** How long connections may take to receive their last answers when the gateway stops. */
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Receives the data of terminals. It listens for every protocol, refuses terminals without a vehicle, appends the
 * packets of the others to topic `telemetry`, and acknowledges them once they are durable.
 */
export function createGateway(parts: GatewayParts): Gateway {
  return new TerminalGateway(parts);
}

class TerminalGateway implements Gateway {
  readonly name = 'gateway';
  readonly ports: Record<ProtocolName, number> = {};
  readonly tlsPorts: Record<ProtocolName, number> = {};
  readonly udpPorts: Record<ProtocolName, number> = {};
  readonly failed: Promise<never>;
  readonly #parts: GatewayParts;
  readonly #tracing: Tracing;
  readonly #metrics: ReturnType<typeof gatewayMetrics>;
  readonly #directory = new Directory();
  readonly #connections = new Set<Connection>();
  readonly #servers: (Server | HttpServer)[] = [];
  readonly #datagramServers: DatagramServer[] = [];
  readonly #rates: DatagramRates;
  readonly #connected: ConnectedTerminals;
  readonly #unread = new UnreadAnswers();
  readonly #bodies = new BodyBudget();
  readonly #budget: UnknownBudget;
  readonly #devices: UnknownDevices;
  readonly #contacts: FirstContacts;
  readonly #traces = new PacketTraces(() => randomBytes(4).readInt32BE());
  readonly #intake: Intake;
  #broker: BrokerSource | null = null;
  #identity: TlsIdentity | null = null;
  #isHeld = false;
  #definitions: Subscription | null = null;
  #presence: TerminalPresence | null = null;
  #fail: (error: unknown) => void = () => {};

  constructor(parts: GatewayParts) {
    const { config, log, hub, logger, metrics, clock, tracing = NO_TRACING } = parts;
    this.#parts = parts;
    this.#tracing = tracing;
    this.#metrics = gatewayMetrics(metrics);
    this.#metrics.unread(() => this.#unread.bytes);
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
    this.#connected = new ConnectedTerminals(
      hub,
      (error) => logger.warn({ err: error }, 'cannot publish connections of terminals'),
      clock,
    );
    this.#budget = new UnknownBudget({
      hub,
      perMinute: config.unknownPerMinute,
      now: clock.now,
      onError: (error) => logger.warn({ err: error }, 'cannot count an unknown terminal'),
      onBlocked: (address) => logger.warn({ address }, 'address blocked: too many unknown terminal ids'),
    });
    this.#rates = new DatagramRates(config.maxDatagramsPerAddress, clock.now);
    this.#devices = new UnknownDevices({
      hub,
      now: clock.now,
      onError: (error) => logger.warn({ err: error }, 'cannot note an unknown device'),
    });
    this.#contacts = new FirstContacts(hub, (error) =>
      logger.warn({ err: error }, 'cannot publish the first packet of a terminal'),
    );
    const clockWatch = new ClockWatch(logger, metrics);
    this.#intake = new Intake(
      log,
      this.#directory,
      logger,
      (hold) => this.#hold(hold),
      ({ terminalId, positions, receivedAtMs }) => clockWatch.note(terminalId, positions, receivedAtMs),
      (what) => this.#metrics.corrected(what),
      clock,
    );
  }

  get healthy(): boolean {
    return this.#intake.healthy;
  }

  get warnings(): readonly string[] {
    return this.#broker?.warnings ?? [];
  }

  async start(): Promise<void> {
    const { config, log, hub, logger } = this.#parts;
    // Listening begins once the vehicles are known: until then a refusal would be wrong.
    this.#definitions = await followDefinitions(log, 'gateway', (change) =>
      this.#directory.apply(withoutCustomFields(change)),
    );
    this.#definitions.failed.catch(this.#fail);
    this.#presence = await serveTerminalCommands(
      hub,
      {
        online: () => this.#connected.commandable(),
        link: (terminalId) => this.#connected.link(terminalId),
        has: (terminalId) => this.#connected.of(terminalId) !== undefined,
        deliver: ({ terminalId, command, timeoutMs }) =>
          this.#connected.of(terminalId)?.command(command, timeoutMs) ?? null,
      },
      (error) => logger.warn({ err: error }, 'cannot publish connected terminals'),
    );
    await this.#connected.start();
    if (config.broker !== null) this.#broker = await this.#createBroker(config.broker);
    if (config.tls !== null) this.#identity = await openTlsIdentity(config.tls, logger, this.#parts.clock);
    for (const protocol of tcpProtocols) await this.#listen(protocol.name, this.#tcpServers(protocol));
    for (const protocol of httpProtocols) await this.#listen(protocol.name, this.#httpServers(protocol));
    if (config.udp) for (const protocol of datagramProtocols) await this.#listenForDatagrams(protocol);
    logger.info(
      {
        ...this.ports,
        ...(config.tls === null ? {} : { tls: this.tlsPorts }),
        ...(config.udp ? { udp: this.udpPorts } : {}),
      },
      'listening for terminals',
    );
    this.#broker?.start();
  }

  async stop(): Promise<void> {
    this.#identity?.close();
    await this.#presence?.close();
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const connection of this.#connections) connection.hold(true);
    for (const server of this.#datagramServers) server.pause();
    this.#broker?.pause();
    await this.#intake.drain();
    for (const server of this.#datagramServers) await server.close();
    await this.#broker?.stop();
    for (const connection of this.#connections) connection.end();
    for (const server of this.#servers) if ('closeIdleConnections' in server) server.closeIdleConnections();
    const timeout = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => {
      for (const connection of this.#connections) connection.destroy();
      for (const server of this.#servers) if ('closeAllConnections' in server) server.closeAllConnections();
    });
    await Promise.all(closed);
    timeout.cancel();
    await this.#connected.close();
    await this.#definitions?.stop();
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#parts.logger.debug(
      { connections: this.#connections.size },
      isHeld ? 'pausing terminal connections' : 'resuming terminal connections',
    );
    for (const connection of this.#connections) connection.hold(isHeld);
    this.#broker?.hold(isHeld);
  }

  async #createBroker({ url, clientId, topics }: BrokerConfig): Promise<BrokerSource> {
    // Loaded where there is a broker: its libraries are half a megabyte of source.
    const { mqttConnector } = await import('./broker/mqtt.ts');
    const { hub, logger, metrics, clock } = this.#parts;
    const routes = topicRoutesOf(topics);
    const address = new URL(url).hostname;
    return new BrokerSource({
      connect: mqttConnector({ url, clientId, filters: routes.map(({ filter }) => filter), clock }),
      routes,
      address,
      clientId,
      hub,
      logger,
      registry: metrics,
      metricsOf: (protocol) => this.#metrics.of(protocol),
      intake: this.#intake,
      traces: this.#traces,
      tracing: this.#tracing,
      contacts: this.#contacts,
      vehicleOf: (terminalId) => this.#directory.vehicleOfTerminal(terminalId),
      onRefused: (protocol, reason, detail, trace) => this.#refused(protocol, reason, detail, address, trace),
      onAccessRefused: (protocol, vehicle, refusal) => this.#noteAccessRefused(protocol, vehicle, refusal, address),
      clock,
    });
  }

  /** What the connections and requests of a protocol need from the gateway. */
  #contextOf(protocol: ProtocolName) {
    const { hub, logger, clock } = this.#parts;
    return {
      intake: this.#intake,
      metrics: this.#metrics.of(protocol),
      traces: this.#traces,
      tracing: this.#tracing,
      clock,
      contacts: this.#contacts,
      vehicleOf: (terminalId: TerminalId) => this.#directory.vehicleOfTerminal(terminalId),
      isBlocked: (terminalId: TerminalId, address: string) => this.#budget.isBlocked(sourceOf(address), terminalId),
      onWrongSecret: (address: string) => this.#budget.noteWrongSecret(sourceOf(address)),
      onUnknown: (terminalId: TerminalId, address: string, contact?: RefusedContact) => {
        this.#budget.noteUnknown(sourceOf(address), terminalId);
        void hub
          .noteUnknownTerminal(terminalId, protocol, address, clock.now(), contact)
          .catch((error) => logger.warn({ err: error, terminalId }, 'cannot note an unknown terminal'));
      },
      onAccessRefused: (vehicle: Vehicle, refusal: AccessRefusal, address: string) =>
        this.#noteAccessRefused(protocol, vehicle, refusal, address),
      onText: (terminalId: TerminalId | null, text: string) =>
        logger.debug({ protocol, terminalId, text: text.slice(0, MAX_LOGGED_TEXT) }, 'text of a terminal'),
      onUnknownDevice: (address: string, contact: RefusedContact) => this.#devices.note(protocol, address, contact),
      onRefused: (reason: string, detail: string, address: string, trace: PacketTrace) => {
        this.#refused(protocol, reason, detail, address, trace);
      },
    };
  }

  #refused(protocol: ProtocolName, reason: string, detail: string, address: string, trace: PacketTrace): void {
    this.#metrics.refused(protocol, reason);
    this.#parts.logger.debug({ traceId: trace, protocol, reason, detail, address }, 'refused');
    if (!this.#tracing.isOn) return;
    const facts = { 'outrider.protocol': protocol, 'outrider.refusal': reason, 'client.address': address };
    const span = this.#tracing.beginPacket(trace, 'refuse', { kind: 'server', facts });
    span.fail(detail);
    span.end();
  }

  /** The refused data may hold a secret of the vehicle: none of it is kept. */
  #noteAccessRefused(protocol: ProtocolName, vehicle: Vehicle, refusal: AccessRefusal, address: string): void {
    const { terminalId, terminalAccess } = vehicle;
    if (terminalId === null) return;
    const { hub, logger, clock } = this.#parts;
    const transport = httpProtocols.some(({ name }) => name === protocol) ? 'http' : 'tcp';
    const detail = refusalDetail(terminalAccess, refusal);
    const contact: RefusedContact = { transport, reason: refusal, detail, receivedBytes: 0, firstBytes: '' };
    hub
      .noteUnknownTerminal(terminalId, protocol, address, clock.now(), contact)
      .catch((error) => logger.warn({ err: error, terminalId }, 'cannot note a refused terminal'));
  }

  #admission(): Admission {
    const { maxConnections, maxConnectionsPerAddress } = this.#parts.config;
    return new Admission({ total: maxConnections, perKey: maxConnectionsPerAddress });
  }

  #tcpServers(protocol: Protocol) {
    const { config, logger } = this.#parts;
    const context = {
      ...this.#contextOf(protocol.name),
      idleTimeoutMs: config.idleTimeoutMs,
      identifyTimeoutMs: Math.min(IDENTIFY_TIMEOUT_MS, config.idleTimeoutMs),
      unread: this.#unread,
      codes: terminalCodes(this.#directory),
      terminalSecret: config.terminalSecret,
      isKnown: (terminalId: TerminalId) =>
        this.#directory.vehicleOfTerminal(terminalId) !== undefined ||
        (protocol.carriesVideo === true && this.#isVideoTerminal(terminalId)),
      isContested: (terminalId: TerminalId) => this.#connected.isContested(terminalId),
      onUnread: (terminalId: TerminalId | null, detail: string) =>
        logger.info({ protocol: protocol.name, terminalId, detail }, 'a message of a terminal is not understood'),
    };
    return createTcpServers({
      admission: this.#admission(),
      identity: this.#identity,
      maxConnections: config.maxConnections,
      onRefused: (reason) => this.#metrics.refused(protocol.name, reason),
      onConnection: (socket, slot, certificateSha256) => {
        const connection: Connection = new Connection(socket, protocol, {
          ...context,
          certificateSha256,
          onIdentified: (terminalId) => {
            slot.identified();
            this.#budget.noteLetIn(sourceOf(connection.address), terminalId);
            this.#connected.came(terminalId, connection, protocol.name, this.#parts.clock.now());
            if (connection.takesCommands) this.#presence?.came(terminalId);
          },
          onCarried: (terminalId, link) => {
            slot.identified();
            this.#budget.noteLetIn(sourceOf(link.address), terminalId);
            this.#connected.came(terminalId, link, protocol.name, this.#parts.clock.now());
          },
          onCarriedEnd: (terminalId, link) => void this.#connected.went(terminalId, link),
          onDropped: (terminalId, reason, address) =>
            logger.info(
              { protocol: protocol.name, terminalId, reason, address },
              'dropping packets of a terminal in a connection of several',
            ),
        });
        this.#add(socket, connection, slot, context.metrics);
      },
    });
  }

  #add(socket: Socket, connection: Connection, slot: Slot, metrics: ProtocolMetrics): void {
    this.#connections.add(connection);
    metrics.connections.inc();
    if (this.#isHeld) connection.hold(true);
    socket.once('close', () => {
      this.#connections.delete(connection);
      slot.release();
      metrics.connections.dec();
      const { terminalId } = connection;
      if (terminalId === null || !this.#connected.went(terminalId, connection)) return;
      if (connection.takesCommands) this.#presence?.went(terminalId);
    });
  }

  #httpServers(protocol: HttpProtocol) {
    return createHttpServers(protocol, {
      ...this.#contextOf(protocol.name),
      tls: this.#identity,
      token: this.#parts.config.platformTokens[protocol.name] ?? null,
      bodies: this.#bodies,
      maxConnections: this.#parts.config.maxConnections,
      isHeld: () => this.#isHeld,
      noteRequest: (terminalId, address) => this.#connected.noteRequest(terminalId, address),
      admission: this.#admission(),
      onTaken: (terminalId, address) => this.#budget.noteLetIn(sourceOf(address), terminalId),
    });
  }

  async #listenForDatagrams(protocol: Protocol & { datagrams: DatagramSide }): Promise<void> {
    const { config, logger, clock } = this.#parts;
    const { name, datagrams } = protocol;
    const port = config.ports[name];
    if (port == null) return;
    const context = this.#contextOf(name);
    const options = sessionOptions({
      terminalSecret: config.terminalSecret,
      codes: terminalCodes(this.#directory),
      vehicleOf: context.vehicleOf,
    });
    const server = createDatagramServer(protocol, {
      ...context,
      isHeld: () => this.#isHeld,
      rates: this.#rates,
      links: new DatagramLinks({
        clock,
        came: (terminalId, link) => {
          this.#connected.came(terminalId, link, name, clock.now());
          this.#presence?.came(terminalId);
        },
        went: (terminalId, link) => {
          if (this.#connected.went(terminalId, link)) this.#presence?.went(terminalId);
        },
      }),
      peers: new DatagramPeers({ admission: this.#admission(), idleMs: config.idleTimeoutMs, now: clock.now }),
      createSession: () => (datagrams.createSession ?? protocol.createSession)(options),
      noteRequest: (terminalId, address) => this.#connected.noteRequest(terminalId, address),
      onIdentified: (terminalId, address) => this.#budget.noteLetIn(sourceOf(address), terminalId),
      onError: (error) => logger.warn({ err: error, protocol: name }, 'a socket for datagrams failed'),
    });
    this.udpPorts[name] = await server.listen(port, config.host);
    this.#datagramServers.push(server);
  }

  #isVideoTerminal(terminalId: TerminalId): boolean {
    const profile = this.#directory.videoProfileOfAddress('jt1078', terminalId);
    return profile !== undefined && !this.#directory.isOfAnotherVehicle(profile);
  }

  async #listen(
    name: ProtocolName,
    { plain, secure }: { plain: Server | HttpServer; secure: Server | HttpServer | null },
  ): Promise<void> {
    const { config } = this.#parts;
    for (const server of [plain, secure]) {
      if (server === null || config.proxies === null) continue;
      readProxyHeaders(server, config.proxies, (detail, address) =>
        this.#refused(name, 'bad-proxy-header', detail, address, this.#traces.next()),
      );
    }
    await this.#open(name, plain, config.ports[name], (port) => {
      this.ports[name] = port;
    });
    await this.#open(name, secure, config.tls?.ports[name], (port) => {
      this.tlsPorts[name] = port;
    });
  }

  async #open(
    name: ProtocolName,
    server: Server | HttpServer | null,
    port: number | null | undefined,
    onListening: (port: number) => void,
  ): Promise<void> {
    if (port == null || server === null) return;
    server.listen({ port, host: this.#parts.config.host, backlog: 4096 });
    await once(server, 'listening');
    surviveAcceptErrors(server, this.#parts.logger, () => this.#metrics.refused(name, 'no-descriptor'));
    this.#servers.push(server);
    const address = server.address();
    if (address !== null && typeof address === 'object') onListening(address.port);
  }
}
