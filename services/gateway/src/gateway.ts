import { randomBytes } from 'node:crypto';
import type { BlockList, Socket } from 'node:net';
import { type Clock, Directory, type ProtocolName, type TerminalId, withoutCustomFields } from '@outrider/domain';
import { type Hub, serveTerminalCommands, type TerminalPresence } from '@outrider/hub';
import { followDefinitions, type Log, type Subscription } from '@outrider/log';
import {
  type DatagramSide,
  datagramProtocols,
  type HttpProtocol,
  httpProtocols,
  type Protocol,
  tcpProtocols,
} from '@outrider/protocols';
import { type Logger, type Metrics, NO_TRACING, type Part, type Tracing } from '@outrider/runtime';
import { Admission, type Slot } from './admission.ts';
import { BodyBudget } from './bodies.ts';
import { BrokerSource } from './broker/source.ts';
import { topicRoutesOf } from './broker/topics.ts';
import { ClockWatch } from './clock-watch.ts';
import { ConnectedTerminals } from './connection/connected-terminals.ts';
import { Connection } from './connection/connection.ts';
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
import { Listeners } from './listeners.ts';
import { gatewayMetrics, type ProtocolMetrics } from './metrics.ts';
import { PacketTraces } from './packet-traces.ts';
import { RefusedPeers } from './refused-peers.ts';
import { sessionOptions } from './session-options.ts';
import { terminalCodes } from './terminal-codes.ts';

export interface GatewayConfig {
  host: string;
  /** Port by protocol; 0 selects a free one, null disables the protocol. */
  ports: Readonly<Record<ProtocolName, number | null>>;
  /** Whether to listen by UDP on the same ports, for protocols that support it. */
  udp: boolean;
  /** Maximum of datagrams per second and address. */
  maxDatagramsPerAddress: number;
  /** Maximum of connections per protocol. */
  maxConnections: number;
  /** TLS listeners; null: none. */
  tls: (TlsFiles & { ports: Record<ProtocolName, number | null> }) | null;
  /** Maximum of connections per protocol and address. */
  maxConnectionsPerAddress: number;
  /** Proxies, whose connections begin with a header of the PROXY protocol; null: none. */
  proxies: BlockList | null;
  /** Unknown terminal ids that one address may try per minute. */
  unknownPerMinute: number;
  idleTimeoutMs: number;
  /** Token that requests of platforms must contain, by protocol. Without one, each vehicle's own settings apply. */
  platformTokens: Readonly<Partial<Record<ProtocolName, string | null>>>;
  /** Null: no broker is read. */
  broker: BrokerConfig | null;
  /** Secret from which the codes of registering terminals are derived; the same in all gateways. */
  terminalSecret: string;
}

/** A broker whose topics are a source. */
export interface BrokerConfig {
  /** URL with user and password. */
  url: string;
  /** The same in all gateways. */
  clientId: string;
  /** Comma-separated list of `<protocol>:<filter>`. */
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
  readonly tlsPorts: Record<ProtocolName, number>;
  readonly udpPorts: Record<ProtocolName, number>;
  /** False while the log cannot be appended to. */
  readonly healthy: boolean;
  /** Messages for an operator while the gateway works. */
  readonly warnings: readonly string[];
}

const IDENTIFY_TIMEOUT_MS = 30_000;
/** Maximum of characters of a terminal's text in a log line. */
const MAX_LOGGED_TEXT = 1000;
/** Time for connections to receive their last answers when the gateway stops. */
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
  readonly udpPorts: Record<ProtocolName, number> = {};
  readonly failed: Promise<never>;
  readonly #parts: GatewayParts;
  readonly #tracing: Tracing;
  readonly #metrics: ReturnType<typeof gatewayMetrics>;
  readonly #directory = new Directory();
  readonly #connections = new Set<Connection>();
  readonly #listeners: Listeners;
  readonly #datagramServers: DatagramServer[] = [];
  readonly #rates: DatagramRates;
  readonly #connected: ConnectedTerminals;
  readonly #unread = new UnreadAnswers();
  readonly #bodies = new BodyBudget();
  readonly #refused: RefusedPeers;
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
    this.#refused = new RefusedPeers({
      ...{ hub, logger, tracing, clock, metrics: this.#metrics },
      unknownPerMinute: config.unknownPerMinute,
    });
    this.#listeners = new Listeners({
      ...{ host: config.host, ports: config.ports, proxies: config.proxies, logger },
      tlsPorts: config.tls?.ports ?? null,
      onNoDescriptor: (protocol) => this.#metrics.refused(protocol, 'no-descriptor'),
      onBadProxyHeader: (protocol, detail, address) =>
        this.#refused.refuse(protocol, 'bad-proxy-header', detail, address, this.#traces.next()),
    });
    this.#rates = new DatagramRates(config.maxDatagramsPerAddress, clock.now);
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

  get ports(): Record<ProtocolName, number> {
    return this.#listeners.ports;
  }

  get tlsPorts(): Record<ProtocolName, number> {
    return this.#listeners.tlsPorts;
  }

  get healthy(): boolean {
    return this.#intake.healthy;
  }

  get warnings(): readonly string[] {
    return this.#broker?.warnings ?? [];
  }

  async start(): Promise<void> {
    const { config, log, hub, logger } = this.#parts;
    // Listening begins once the vehicles are known: an earlier refusal could be wrong.
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
    for (const protocol of tcpProtocols) await this.#listeners.open(protocol.name, this.#tcpServers(protocol));
    for (const protocol of httpProtocols) await this.#listeners.open(protocol.name, this.#httpServers(protocol));
    if (config.udp) for (const protocol of datagramProtocols) await this.#listenForDatagrams(protocol);
    logger.info(
      { ...this.ports, ...(config.tls && { tls: this.tlsPorts }), ...(config.udp && { udp: this.udpPorts }) },
      'listening for terminals',
    );
    this.#broker?.start();
  }

  async stop(): Promise<void> {
    this.#identity?.close();
    await this.#presence?.close();
    const closed = this.#listeners.close();
    for (const connection of this.#connections) connection.hold(true);
    for (const server of this.#datagramServers) server.pause();
    this.#broker?.pause();
    await this.#intake.drain();
    for (const server of this.#datagramServers) await server.close();
    await this.#broker?.stop();
    for (const connection of this.#connections) connection.end();
    this.#listeners.closeIdle();
    const timeout = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => {
      for (const connection of this.#connections) connection.destroy();
      this.#listeners.closeAll();
    });
    await closed;
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
    // Only loaded if a broker is configured: its libraries are half a megabyte of source.
    const { mqttConnector } = await import('./broker/mqtt.ts');
    const { hub, logger, metrics, clock } = this.#parts;
    const routes = topicRoutesOf(topics);
    const address = new URL(url).hostname;
    return new BrokerSource({
      connect: mqttConnector({ url, clientId, filters: routes.map(({ filter }) => filter), clock }),
      ...{ routes, address, clientId, hub, logger, clock, registry: metrics },
      ...{ intake: this.#intake, traces: this.#traces, tracing: this.#tracing, contacts: this.#contacts },
      metricsOf: (protocol) => this.#metrics.of(protocol),
      vehicleOf: (terminalId) => this.#directory.vehicleOfTerminal(terminalId),
      onRefused: (protocol, reason, detail, trace) => this.#refused.refuse(protocol, reason, detail, address, trace),
      onAccessRefused: (protocol, vehicle, refusal) =>
        this.#refused.noteAccessRefused(protocol, vehicle, refusal, address),
    });
  }

  /** Dependencies of a protocol's connections and requests. */
  #contextOf(protocol: ProtocolName) {
    const { logger, clock } = this.#parts;
    return {
      ...this.#refused.contextOf(protocol),
      intake: this.#intake,
      metrics: this.#metrics.of(protocol),
      traces: this.#traces,
      tracing: this.#tracing,
      clock,
      contacts: this.#contacts,
      vehicleOf: (terminalId: TerminalId) => this.#directory.vehicleOfTerminal(terminalId),
      onText: (terminalId: TerminalId | null, text: string) =>
        logger.debug({ protocol, terminalId, text: text.slice(0, MAX_LOGGED_TEXT) }, 'text of a terminal'),
    };
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
        (protocol.carriesVideo === true && isVideoTerminal(this.#directory, terminalId)),
      isContested: (terminalId: TerminalId) => this.#connected.isContested(terminalId),
      onUnread: (terminalId: TerminalId | null, detail: string) =>
        logger.info({ protocol: protocol.name, terminalId, detail }, 'a message of a terminal is not understood'),
    };
    return createTcpServers({
      admission: admissionOf(this.#parts.config),
      identity: this.#identity,
      maxConnections: config.maxConnections,
      onRefused: (reason) => this.#metrics.refused(protocol.name, reason),
      onConnection: (socket, slot, certificateSha256) => {
        const connection: Connection = new Connection(socket, protocol, {
          ...context,
          certificateSha256,
          onIdentified: (terminalId) => {
            slot.identified();
            this.#refused.noteLetIn(connection.address, terminalId);
            this.#connected.came(terminalId, connection, protocol.name, this.#parts.clock.now());
            if (connection.takesCommands) this.#presence?.came(terminalId);
          },
          onCarried: (terminalId, link) => {
            slot.identified();
            this.#refused.noteLetIn(link.address, terminalId);
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
      admission: admissionOf(this.#parts.config),
      onTaken: (terminalId, address) => this.#refused.noteLetIn(address, terminalId),
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
      peers: new DatagramPeers({
        admission: admissionOf(this.#parts.config),
        idleMs: config.idleTimeoutMs,
        now: clock.now,
      }),
      createSession: () => (datagrams.createSession ?? protocol.createSession)(options),
      noteRequest: (terminalId, address) => this.#connected.noteRequest(terminalId, address),
      onIdentified: (terminalId, address) => this.#refused.noteLetIn(address, terminalId),
      onError: (error) => logger.warn({ err: error, protocol: name }, 'a socket for datagrams failed'),
    });
    this.udpPorts[name] = await server.listen(port, config.host);
    this.#datagramServers.push(server);
  }
}

function admissionOf({ maxConnections, maxConnectionsPerAddress }: GatewayConfig): Admission {
  return new Admission({ total: maxConnections, perKey: maxConnectionsPerAddress });
}

function isVideoTerminal(directory: Directory, terminalId: TerminalId): boolean {
  const profile = directory.videoProfileOfAddress('jt1078', terminalId);
  return profile !== undefined && !directory.isOfAnotherVehicle(profile);
}
