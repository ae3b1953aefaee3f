import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  type AccessRefusal,
  type Clock,
  KMH_PER_UNIT,
  type PacketTrace,
  type SpeedUnit,
  type TerminalId,
  type Vehicle,
} from '@outrider/domain';
import type { RefusedContact } from '@outrider/hub';
import type { HttpProtocol } from '@outrider/protocols';
import type { Tracing } from '@outrider/runtime';
import { type Admission, SlotsByPeer } from './admission.ts';
import { type BodyBudget, readBody } from './bodies.ts';
import { withConflict } from './connection/connected-terminals.ts';
import { contactOf, FirstBytes } from './connection/first-bytes.ts';
import { certificateOf, TLS_OPTIONS, type TlsIdentity } from './connection/tls-identity.ts';
import type { Intake } from './intake.ts';
import type { ProtocolMetrics } from './metrics.ts';
import { beginPacketSpan, type PacketTraces } from './packet-traces.ts';
import { type Resolved, resolve } from './resolve.ts';
import { type RefusalContext, reportedRefusal } from './terminal-check.ts';

/**
 * Interval of the check for slow requests: a request is aborted at most this long after its time limit.
 */
const CHECK_EVERY_MS = 5000;

/** Dependencies of a protocol's HTTP server. */
export interface HttpContext extends RefusalContext {
  intake: Intake;
  metrics: ProtocolMetrics;
  traces: PacketTraces;
  tracing: Tracing;
  clock: Clock;
  /** Whether the log can't take more: then requests are refused rather than queued. */
  isHeld(): boolean;
  maxConnections: number;
  /** Shared by all protocols over HTTP. */
  bodies: BodyBudget;
  tls: TlsIdentity | null;
  /** Token that every request must contain; null: each vehicle's own settings apply. */
  token: string | null;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  admission: Admission;
  isBlocked(terminalId: TerminalId, address: string): boolean;
  /** @returns whether two devices use the terminal's id */
  noteRequest(terminalId: TerminalId, address: string): boolean;
  onTaken(terminalId: TerminalId, address: string): void;
  onUnknown(terminalId: TerminalId, address: string, contact?: RefusedContact): void;
  /** Called when a peer was refused before it identified itself. */
  onUnknownDevice(address: string, contact: RefusedContact): void;
  /** @param trace of the refused data */
  onRefused(reason: string, detail: string, address: string, trace: PacketTrace): void;
}

const PLAIN_TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };

const HTTP_OPTIONS = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: CHECK_EVERY_MS,
  // Modems of trackers omit the header, and it is not used here.
  requireHostHeader: false,
};

/** Creates the listeners of one protocol over HTTP. A request is answered with 200 only once its data is durable. */
export function createHttpServers(
  protocol: HttpProtocol,
  context: HttpContext,
): { plain: Server; secure: Server | null } {
  const plain = createServer(HTTP_OPTIONS);
  serve(plain, protocol, context);
  const { tls } = context;
  if (tls === null) return { plain, secure: null };
  const secure = createSecureServer({ ...HTTP_OPTIONS, ...TLS_OPTIONS, ...tls.context });
  tls.watch((context) => secure.setSecureContext(context));
  serve(secure, protocol, context);
  return { plain, secure };
}

function serve(server: Server | SecureServer, protocol: HttpProtocol, context: HttpContext): void {
  server.maxConnections = context.maxConnections;
  const refuse = (reason: string, address: string) =>
    context.onRefused(reason, 'the connection is closed unread', address, context.traces.next());
  server.on('drop', (dropped) => refuse('too-many-connections', dropped?.remoteAddress ?? 'unknown'));
  const slots = new SlotsByPeer();
  server.on('connection', (socket) => {
    const slot = context.admission.admit(socket.remoteAddress);
    if (typeof slot === 'string') {
      refuse(slot, socket.remoteAddress ?? 'unknown');
      socket.destroy();
      return;
    }
    slots.hold(socket, slot);
    context.metrics.connections.inc();
    socket.once('close', () => context.metrics.connections.dec());
  });
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const address = (socket as Socket).remoteAddress ?? 'unknown';
    if (error.rawPacket !== undefined) {
      const detail = 'this is not HTTP';
      context.onUnknownDevice(address, contactOf('http', error.rawPacket, 'bad-frame', detail));
      context.onRefused('bad-frame', detail, address, context.traces.next());
    }
    const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
    if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    socket.destroy();
  });
  server.on('request', (request, response) => {
    const identified = () => slots.of(request.socket)?.identified();
    new Exchange(request, response, protocol, context, identified).run().catch((error: Error) => {
      // The peer disconnected during its request.
      context.onRefused('bad-frame', error.message, request.socket.remoteAddress ?? 'unknown', context.traces.next());
      response.destroy();
    });
  });
}

/** One request and its answer. */
class Exchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #protocol: HttpProtocol;
  readonly #context: HttpContext;
  readonly #identified: () => void;
  readonly #address: string;
  readonly #trace: PacketTrace;
  /** Errors in the ignored parts of the request. */
  readonly #leftOut: string[] = [];

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    protocol: HttpProtocol,
    context: HttpContext,
    identified: () => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#protocol = protocol;
    this.#context = context;
    this.#identified = identified;
    this.#address = request.socket.remoteAddress ?? 'unknown';
    this.#trace = context.traces.next();
  }

  async run(): Promise<void> {
    const { isHeld, bodies, clock, token } = this.#context;
    const startMs = this.#context.tracing.nowMs();
    if (isHeld()) return this.#refuseForNow(5, 503, 'held', 'nothing can be stored now; send it again');
    const { maxBodyBytes, carriesMany = false } = this.#protocol;
    const body = await readBody(this.#request, maxBodyBytes, bodies);
    if (body === 'too-long') {
      this.#response.setHeader('Connection', 'close');
      return this.#refuse(413, 'bad-length', `the body is longer than ${maxBodyBytes} bytes`);
    }
    if (body === 'too-many') {
      this.#response.setHeader('Connection', 'close');
      return this.#refuseForNow(5, 503, 'held', 'too many large requests at a time; send it again');
    }
    const receivedAtMs = clock.now();
    const decoded = this.#protocol.decode(this.#contentOf(body), receivedAtMs);
    if ('refused' in decoded) {
      this.#context.onUnknownDevice(this.#address, this.#contact(body, decoded.refused, decoded.detail));
      return this.#refuse(decoded.status, decoded.refused, decoded.detail);
    }
    const { secret = null } = decoded;
    if (token !== null && !isSame(token, secret)) {
      this.#context.onWrongSecret(this.#address);
      return this.#refuse(401, 'wrong-secret', 'this is not the token of the service');
    }
    for (const { refused, detail } of decoded.unread ?? []) {
      this.#context.onRefused(refused, detail, this.#address, this.#context.traces.next());
      this.#leftOut.push(detail);
    }
    const reports = decoded.reports.map((report) => resolve(report, this.#context.vehicleOf));
    if (carriesMany) return this.#takeMany(reports, secret, receivedAtMs, startMs);
    const [report] = reports;
    if (report === undefined) return this.#acknowledge();
    this.#takeOne(report, body, secret, receivedAtMs, startMs);
  }

  #takeOne(report: Resolved, body: Buffer, secret: string | null, receivedAtMs: number, startMs: number): void {
    const { terminalId, vehicle } = report;
    if (this.#context.isBlocked(terminalId, this.#address))
      return this.#refuseForNow(60, 429, 'address-blocked', 'too many unknown terminals came from this address');
    const refusal = vehicle && this.#refusalOf(vehicle, secret);
    if (refusal) return this.#refuse(403, refusal, 'this is not taken for the terminal');
    if (vehicle !== undefined && report.positions.length === 0) {
      this.#noteContact(terminalId, receivedAtMs);
      return this.#acknowledge();
    }
    if (this.#take(report, receivedAtMs, startMs, this.#trace, () => this.#acknowledge())) return;
    const detail = `no vehicle has terminal ${JSON.stringify(terminalId)}`;
    this.#context.onUnknown(terminalId, this.#address, this.#contact(body, 'unknown-terminal', detail));
    this.#refuse(404, 'unknown-terminal', detail);
  }

  /** Records the request without its headers. */
  #contact(body: Buffer, reason: string, detail: string): RefusedContact {
    const { method, url } = this.#request;
    const first = new FirstBytes('http');
    first.add(Buffer.from(`${method} ${url}\n`));
    first.add(body);
    return first.contact(reason, detail);
  }

  /**
   * Skips reports that can't be taken: otherwise the platform would send the same request again for ever, and nothing
   * after it.
   */
  #takeMany(reports: readonly Resolved[], secret: string | null, receivedAtMs: number, startMs: number): void {
    const { isBlocked, onUnknown, onRefused, traces, token } = this.#context;
    const address = this.#address;
    // Refuses the whole request while the address is blocked, so that the platform keeps its data.
    if (token === null && reports.some(({ terminalId }) => isBlocked(terminalId, address)))
      return this.#refuseForNow(60, 429, 'address-blocked', 'too many unknown terminals came from this address');
    let underWay = 1;
    const done = () => {
      underWay--;
      if (underWay === 0) this.#acknowledge();
    };
    const unknown = new Set<TerminalId>();
    for (const report of reports) {
      const { terminalId, vehicle, positions } = report;
      const refusal = vehicle && this.#refusalOf(vehicle, secret);
      if (refusal) {
        onRefused(refusal, `not taken for terminal ${JSON.stringify(terminalId)}`, address, traces.next());
        continue;
      }
      if (vehicle !== undefined && positions.length === 0) {
        this.#noteContact(terminalId, receivedAtMs);
        continue;
      }
      underWay++;
      if (this.#take(report, receivedAtMs, startMs, traces.next(), done)) continue;
      underWay--;
      unknown.add(terminalId);
    }
    for (const terminalId of unknown) {
      onUnknown(terminalId, address);
      const detail = `no vehicle has terminal ${JSON.stringify(terminalId)}`;
      onRefused('unknown-terminal', detail, address, traces.next());
    }
    done();
  }

  #noteContact(terminalId: TerminalId, receivedAtMs: number): void {
    const { intake, traces } = this.#context;
    intake.noteContact(this.#protocol.name, terminalId, receivedAtMs, traces);
  }

  /** @returns false if no vehicle has the terminal */
  #take(report: Resolved, receivedAtMs: number, startMs: number, trace: PacketTrace, durable: () => void): boolean {
    const { name, carriesMany = false } = this.#protocol;
    const { tracing, intake, metrics, contacts, noteRequest, onTaken } = this.#context;
    const { terminalId, vehicle, positions } = report;
    const address = this.#address;
    const facts = { trace, terminalId, positions: positions.length, clientAddress: address };
    const span = beginPacketSpan(tracing, { ...facts, protocol: name, startMs });
    const append = span.child('append');
    const done = () => {
      append.end();
      durable();
      span.end();
    };
    // The speeds were read as knots: converts them by the speed unit of the vehicle.
    if (report.isInKnots && vehicle !== undefined && vehicle.speedUnit !== null)
      for (const position of positions)
        if (position.speedKmh !== null)
          position.speedKmh *= KMH_PER_UNIT[vehicle.speedUnit as SpeedUnit] / KMH_PER_UNIT.knots;
    // The address of a platform is not that of the terminal.
    const isContested = vehicle !== undefined && !carriesMany && noteRequest(terminalId, address);
    const taking = isContested ? withConflict(positions) : positions;
    if (!intake.take(name, terminalId, taking, receivedAtMs, trace, done)) return false;
    this.#identified();
    if (vehicle !== undefined) contacts.note(vehicle, name, null, receivedAtMs);
    onTaken(terminalId, address);
    metrics.packets.inc(1);
    metrics.positions.inc(positions.length);
    return true;
  }

  #contentOf(body: Buffer) {
    const { method = 'GET', url = '/', headers } = this.#request;
    const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]);
    return { method, url, headers: Object.fromEntries(texts) as Record<string, string | undefined>, body };
  }

  #refusalOf(vehicle: Vehicle, secret: string | null): AccessRefusal | null {
    const { token } = this.#context;
    // With the service's token a platform may send for all vehicles, so their own secrets are not required.
    const access = token === null ? vehicle.terminalAccess : { ...vehicle.terminalAccess, secretHash: null };
    const { socket } = this.#request;
    const shown = {
      protocol: this.#protocol.name,
      address: this.#address,
      certificateSha256: socket instanceof TLSSocket ? certificateOf(socket) : null,
      secret,
      showedCode: false,
    };
    return reportedRefusal(vehicle, shown, this.#context, access);
  }

  #acknowledge(): void {
    const { answer } = this.#protocol;
    this.#context.metrics.acknowledged.inc(1);
    if (answer === undefined && this.#leftOut.length > 0) {
      const lines = this.#leftOut.map((detail) => `left out: ${detail}\n`);
      this.#response.writeHead(200, PLAIN_TEXT).end(lines.join(''));
    } else if (answer === undefined) this.#response.writeHead(200).end();
    else this.#response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
  }

  #refuseForNow(seconds: number, status: number, reason: string, detail: string): void {
    this.#response.setHeader('Retry-After', String(seconds));
    this.#refuse(status, reason, detail);
  }

  #refuse(status: number, reason: string, detail: string): void {
    this.#context.onRefused(reason, detail, this.#address, this.#trace);
    this.#response.writeHead(status, PLAIN_TEXT).end(`${detail}\n`);
  }
}

function isSame(token: string, shown: string | null): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return shown !== null && timingSafeEqual(digest(token), digest(shown));
}
