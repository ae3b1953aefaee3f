import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { sourceOf } from '@outrider/auth';
import { Directory, isSecret, type PacketTrace, type ProtocolName, type TerminalId } from '@outrider/domain';
import { type Hub, serveTerminalCommands, type TerminalPresence } from '@outrider/hub';
import { followDefinitions, type Log, type Subscription } from '@outrider/log';
import { type Protocol, type TerminalCodes, tcpProtocols } from '@outrider/protocols';
import { type Logger, NO_TRACING, type Part, type Registry, type Tracing } from '@outrider/runtime';
import { Admission, type Place } from './admission.ts';
import { ClockWatch } from './clock-watch.ts';
import { ConnectedTerminals } from './connected-terminals.ts';
import { Connection } from './connection.ts';
import { FirstContacts } from './first-contacts.ts';
import { Intake } from './intake.ts';
import { gatewayMetrics } from './metrics.ts';
import { createOsmandServers } from './osmand-server.ts';
import { PacketTraces } from './packet-traces.ts';
import { certificateOf, openTlsIdentity, TLS_OPTIONS, type TlsFiles, type TlsIdentity } from './tls-identity.ts';
import { UnknownBudget } from './unknown-budget.ts';
import { UnreadAnswers } from './unread-answers.ts';

export { gatewayConfigOf, gatewayVariables } from './settings.ts';

export interface GatewayConfig {
  host: string;
  /** Port by protocol; 0 takes any free one, null leaves the protocol out. */
  ports: Readonly<Record<ProtocolName, number | null>>;
  /** Per protocol. */
  maxConnections: number;
  /** Listeners by TLS; null: none. */
  tls: (TlsFiles & { ports: Record<ProtocolName, number | null> }) | null;
  /** Of these, from one address. */
  maxConnectionsPerAddress: number;
  /** Ids without a vehicle that one address may try in a minute. */
  unknownPerMinute: number;
  idleTimeoutMs: number;
  /** What the codes are derived from that terminals are given when they register: the same in all gateways. */
  terminalSecret: string;
}

export interface GatewayParts {
  config: GatewayConfig;
  log: Log;
  hub: Hub;
  logger: Logger;
  metrics: Registry;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

export interface Gateway extends Part {
  /** The ports that it listens on. */
  readonly ports: Record<ProtocolName, number>;
  /** Those by TLS. */
  readonly tlsPorts: Record<ProtocolName, number>;
  /** False while the log takes no packets. */
  readonly healthy: boolean;
}

const IDENTIFY_TIMEOUT_MS = 30_000;
/** Characters of a terminal's text that a log line holds. */
const MAX_LOGGED_TEXT = 1000;
const SOCKET_OPTIONS = { allowHalfOpen: true, keepAlive: true };
/** How long connections may take to get their last answers when the gateway stops. */
const GOODBYE_MS = 2000;

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * The terminals' side of the service: listens for every protocol, refuses terminals without a vehicle profile, puts
 * what the others send into topic `telemetry`, and acknowledges it once it is durable.
 */
export function createGateway({
  config,
  log,
  hub,
  logger,
  metrics: registry,
  tracing = NO_TRACING,
  now,
}: GatewayParts): Gateway {
  const metrics = gatewayMetrics(registry);
  const directory = new Directory();
  const connections = new Set<Connection>();
  const servers: (Server | HttpServer)[] = [];
  const ports: Record<ProtocolName, number> = {};
  const tlsPorts: Record<ProtocolName, number> = {};
  let identity: TlsIdentity | null = null;
  let held = false;
  let definitions: Subscription | null = null;
  const connected = new ConnectedTerminals(
    hub,
    (error) => logger.warn({ err: error }, 'connections of terminals could not be noted'),
    now,
  );
  const unread = new UnreadAnswers();
  metrics.unread(() => unread.bytes);
  const budget = new UnknownBudget({
    hub,
    perMinute: config.unknownPerMinute,
    now,
    onError: (error) => logger.warn({ err: error }, 'an unknown terminal could not be counted'),
    onBlocked: (address) => logger.warn({ address }, 'an address tried too many unknown terminal ids'),
  });
  const contacts = new FirstContacts(hub, (error) =>
    logger.warn({ err: error }, 'the first packet of a terminal could not be published'),
  );
  const bounds = { total: config.maxConnections, perKey: config.maxConnectionsPerAddress };
  let presence: TerminalPresence | null = null;
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  const traces = new PacketTraces(() => randomBytes(4).readInt32BE());
  const clockWatch = new ClockWatch(logger, registry);
  const intake = new Intake(
    log,
    directory,
    logger,
    (hold) => {
      held = hold;
      logger.debug({ held, connections: connections.size }, held ? 'terminals are held back' : 'terminals go on');
      for (const connection of connections) connection.hold(held);
    },
    ({ terminalId, positions, receivedAtMs }) => clockWatch.note(terminalId, positions, receivedAtMs),
  );

  function refusals(protocol: ProtocolName) {
    return {
      isBlocked: (terminalId: TerminalId, address: string) => budget.isBlocked(sourceOf(address), terminalId),
      onUnknown(terminalId: TerminalId, address: string) {
        budget.noteUnknown(sourceOf(address), terminalId);
        void hub
          .noteUnknownTerminal(terminalId, protocol, address, now())
          .catch((error) => logger.warn({ err: error, terminalId }, 'an unknown terminal could not be noted'));
      },
      vehicleOf: (terminalId: TerminalId) => directory.vehicleOfTerminal(terminalId),
      contacts,
      isContested: (terminalId: TerminalId) => connected.isContested(terminalId),
      onWrongSecret: (address: string) => budget.noteWrongSecret(sourceOf(address)),
      onText(terminalId: TerminalId | null, text: string) {
        logger.debug({ protocol, terminalId, text: text.slice(0, MAX_LOGGED_TEXT) }, 'text of a terminal');
      },
      onRefused(reason: string, detail: string, address: string, trace: PacketTrace) {
        metrics.refused(protocol, reason);
        logger.debug({ traceId: trace, protocol, reason, detail, address }, 'refused');
        if (!tracing.isOn) return;
        const facts = { 'outrider.protocol': protocol, 'outrider.refusal': reason, 'client.address': address };
        const span = tracing.beginPacket(trace, 'refuse', { kind: 'server', facts });
        span.fail(detail);
        span.end();
      },
    };
  }

  /** The listeners of one protocol, with and without TLS, which share their places. */
  function createTcpServers(protocol: Protocol): { plain: Server; secure: Server | null } {
    const ofProtocol = metrics.of(protocol.name);
    const around = {
      intake,
      metrics: ofProtocol,
      traces,
      tracing,
      idleTimeoutMs: config.idleTimeoutMs,
      identifyTimeoutMs: Math.min(IDENTIFY_TIMEOUT_MS, config.idleTimeoutMs),
      now,
      unread,
      codes,
      terminalSecret: config.terminalSecret,
      isKnown: (terminalId: TerminalId) =>
        directory.vehicleOfTerminal(terminalId) !== undefined ||
        (protocol.carriesVideo === true && isVideoTerminal(terminalId)),
      onIdentified(terminalId: TerminalId, connection: Connection) {
        budget.noteLetIn(sourceOf(connection.address), terminalId);
        connected.came(terminalId, connection, protocol.name, now());
        if (connection.takesCommands) presence?.came(terminalId);
      },
      ...refusals(protocol.name),
    };
    const admission = new Admission(bounds);
    function admit(socket: Socket): Place | null {
      const place = admission.admit(socket.remoteAddress);
      if (typeof place !== 'string') return place;
      metrics.refused(protocol.name, place);
      socket.destroy();
      return null;
    }
    function take(socket: Socket, place: Place, certificateSha256: string | null): void {
      const connection = new Connection(socket, protocol, {
        ...around,
        certificateSha256,
        onIdentified(terminalId) {
          place.identified();
          around.onIdentified(terminalId, connection);
        },
      });
      connections.add(connection);
      ofProtocol.connections.inc();
      if (held) connection.hold(true);
      socket.once('close', () => {
        connections.delete(connection);
        place.leave();
        ofProtocol.connections.dec();
        const { terminalId } = connection;
        if (terminalId === null || !connected.went(terminalId, connection)) return;
        if (connection.takesCommands) presence?.went(terminalId);
      });
    }
    const plain = createServer(SOCKET_OPTIONS, (socket: Socket) => {
      const place = admit(socket);
      if (place !== null) take(socket, place, null);
    });
    const secure =
      identity === null ? null : createTlsServer({ ...SOCKET_OPTIONS, ...TLS_OPTIONS, ...identity.context });
    if (secure !== null) {
      // The handshake takes a place as well.
      const places = new Map<string, Place>();
      secure.on('connection', (socket: Socket) => {
        const place = admit(socket);
        if (place === null) return;
        const peer = peerOf(socket);
        places.set(peer, place);
        socket.once('close', () => {
          if (places.delete(peer)) place.leave();
        });
      });
      secure.on('secureConnection', (socket) => {
        const peer = peerOf(socket);
        const place = places.get(peer);
        places.delete(peer);
        if (place === undefined) socket.destroy();
        else take(socket, place, certificateOf(socket));
      });
      secure.on('tlsClientError', () => metrics.refused(protocol.name, 'bad-handshake'));
      identity?.watch((context) => secure.setSecureContext(context));
    }
    for (const server of [plain, secure]) {
      if (server === null) continue;
      server.maxConnections = config.maxConnections;
      server.on('drop', () => metrics.refused(protocol.name, 'too-many-connections'));
    }
    return { plain, secure };
  }

  const vehicleOfForms = (forms: readonly TerminalId[]) => {
    const form = forms.find((each) => directory.vehicleOfTerminal(each) !== undefined);
    return form === undefined ? undefined : directory.vehicleOfTerminal(form);
  };
  const codes: TerminalCodes = {
    isRight(forms, shown, derived) {
      const secretHash = vehicleOfForms(forms)?.terminalAccess.secretHash ?? null;
      return secretHash === null ? shown === derived : isSecret(secretHash, shown);
    },
    mayIssue(forms, registration) {
      const access = vehicleOfForms(forms)?.terminalAccess;
      if (access === undefined || access.protocol === 'any') return access?.secretHash == null;
      if (access.secretHash !== null) return false;
      return access.registrationHash === null || isSecret(access.registrationHash, registration);
    },
  };

  function isVideoTerminal(terminalId: TerminalId): boolean {
    const profile = directory.videoProfileOfAddress('jt1078', terminalId);
    return profile !== undefined && !directory.isOfAnotherVehicle(profile);
  }

  async function listen(
    server: Server | HttpServer | null,
    name: ProtocolName,
    wanted: Record<ProtocolName, number | null> | undefined,
    ports: Record<ProtocolName, number>,
  ): Promise<void> {
    const port = wanted?.[name] ?? null;
    if (port === null || server === null) return;
    server.listen({ port, host: config.host, backlog: 4096 });
    await once(server, 'listening');
    servers.push(server);
    const address = server.address();
    if (address !== null && typeof address === 'object') ports[name] = address.port;
  }

  return {
    name: 'gateway',
    ports,
    tlsPorts,
    failed,
    get healthy() {
      return intake.healthy;
    },
    async start() {
      // Terminals are let in only once it is known which of them have a vehicle: a refusal would be a lie before.
      definitions = await followDefinitions(log, 'gateway', (change) => directory.apply(change));
      definitions.failed.catch(fail);
      presence = await serveTerminalCommands(
        hub,
        {
          online: () => connected.commandable(),
          link: (terminalId) => connected.link(terminalId),
          deliver: ({ terminalId, command, timeoutMs }) =>
            connected.of(terminalId)?.command(command, timeoutMs) ?? null,
        },
        (error) => logger.warn({ err: error }, 'the hub does not take what is said of connected terminals'),
      );
      await connected.start();
      if (config.tls !== null) identity = await openTlsIdentity(config.tls, logger);
      for (const protocol of tcpProtocols) {
        const { plain, secure } = createTcpServers(protocol);
        await listen(plain, protocol.name, config.ports, ports);
        await listen(secure, protocol.name, config.tls?.ports, tlsPorts);
      }
      const osmand = createOsmandServers({
        tls: identity,
        maxConnections: config.maxConnections,
        intake,
        metrics: metrics.of('osmand'),
        traces,
        tracing,
        now,
        isHeld: () => held,
        noteRequest: (terminalId, address) => connected.noteRequest(terminalId, address),
        admission: new Admission(bounds),
        onTaken: (terminalId, address) => budget.noteLetIn(sourceOf(address), terminalId),
        ...refusals('osmand'),
      });
      await listen(osmand.plain, 'osmand', config.ports, ports);
      await listen(osmand.secure, 'osmand', config.tls?.ports, tlsPorts);
      logger.info({ ...ports, ...(config.tls === null ? {} : { tls: tlsPorts }) }, 'listening for terminals');
    },
    async stop() {
      identity?.close();
      await presence?.close();
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const connection of connections) connection.hold(true);
      await intake.drain();
      for (const connection of connections) connection.end();
      for (const server of servers) if ('closeIdleConnections' in server) server.closeIdleConnections();
      const goodbye = setTimeout(() => {
        for (const connection of connections) connection.destroy();
        for (const server of servers) if ('closeAllConnections' in server) server.closeAllConnections();
      }, GOODBYE_MS);
      await Promise.all(closed);
      clearTimeout(goodbye);
      await connected.close();
      await definitions?.stop();
    },
  };
}
