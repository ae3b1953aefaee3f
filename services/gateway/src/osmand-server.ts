import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { PacketTrace, TerminalId, Vehicle } from '@outrider/domain';
import { decodeOsmand } from '@outrider/protocols';
import { NO_SPAN, type Tracing } from '@outrider/runtime';
import { type Admission, SlotsByPeer } from './admission.ts';
import { withConflict } from './connected-terminals.ts';
import type { FirstContacts } from './first-contacts.ts';
import type { Intake } from './intake.ts';
import type { ProtocolMetrics } from './metrics.ts';
import type { PacketTraces } from './packet-traces.ts';
import { type AccessRefusal, accessRefusal } from './terminal-access.ts';
import { certificateOf, TLS_OPTIONS, type TlsIdentity } from './tls-identity.ts';

const MAX_BODY_BYTES = 64 * 1024;

/**
 * Interval of the check for slow requests: a request that exceeds its time is cut off this much later at most.
 */
const CHECK_EVERY_MS = 5000;

/** What the HTTP side needs from the gateway. */
export interface HttpContext {
  intake: Intake;
  metrics: ProtocolMetrics;
  traces: PacketTraces;
  tracing: Tracing;
  now(): number;
  /** True while the log can't take more: requests are turned away rather than queued. */
  isHeld(): boolean;
  maxConnections: number;
  tls: TlsIdentity | null;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  contacts: FirstContacts;
  onWrongSecret(address: string): void;
  admission: Admission;
  isBlocked(terminalId: TerminalId, address: string): boolean;
  /** @returns whether the terminal's id is in use at two places */
  noteRequest(terminalId: TerminalId, address: string): boolean;
  onTaken(terminalId: TerminalId, address: string): void;
  onUnknown(terminalId: TerminalId, address: string): void;
  /** @param trace of what was refused */
  onRefused(reason: string, detail: string, address: string, trace: PacketTrace): void;
}

const HTTP_OPTIONS = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: CHECK_EVERY_MS,
};

/** Phones by HTTP: one request, one answer, 200 only once the position is durable. */
export function createOsmandServers(context: HttpContext): { plain: Server; secure: Server | null } {
  const plain = createServer(HTTP_OPTIONS);
  serve(plain, context);
  const { tls } = context;
  if (tls === null) return { plain, secure: null };
  const secure = createSecureServer({ ...HTTP_OPTIONS, ...TLS_OPTIONS, ...tls.context });
  tls.watch((context) => secure.setSecureContext(context));
  serve(secure, context);
  return { plain, secure };
}

function serve(server: Server | SecureServer, context: HttpContext): void {
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
  server.on('request', (request, response) => {
    answer(request, response, context, () => slots.of(request.socket)?.identified()).catch((error: Error) => {
      // The peer disconnected during its request.
      context.onRefused('bad-frame', error.message, request.socket.remoteAddress ?? 'unknown', context.traces.next());
      response.destroy();
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpContext,
  identified: () => void,
): Promise<void> {
  const address = request.socket.remoteAddress ?? 'unknown';
  const { tracing } = context;
  const startMs = tracing.nowMs();
  const trace = context.traces.next();
  const refuse = (status: number, reason: string, detail: string) => {
    context.onRefused(reason, detail, address, trace);
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${detail}\n`);
  };

  if (context.isHeld()) {
    response.setHeader('Retry-After', '5');
    return refuse(503, 'held', 'nothing can be stored now; send it again');
  }
  const body = await readBody(request);
  if (body === null) {
    response.setHeader('Connection', 'close');
    return refuse(413, 'bad-length', `the body is longer than ${MAX_BODY_BYTES} bytes`);
  }
  const receivedAtMs = context.now();
  const decoded = decodeOsmand({
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    contentType: request.headers['content-type'] ?? null,
    body,
    nowMs: receivedAtMs,
  });
  if ('refused' in decoded) return refuse(decoded.status, decoded.refused, decoded.detail);

  const { terminalId, positions, secret = null } = decoded;
  if (context.isBlocked(terminalId, address)) {
    response.setHeader('Retry-After', '60');
    return refuse(429, 'address-blocked', 'too many unknown terminals came from this address');
  }
  const vehicle = context.vehicleOf(terminalId);
  const refusal = vehicle && refusalOf(vehicle, request, address, secret, context);
  if (refusal) {
    if (refusal === 'wrong-secret') context.onWrongSecret(address);
    return refuse(403, refusal, 'this is not taken for the terminal');
  }
  if (positions.length === 0) {
    context.metrics.acknowledged.inc(1);
    response.writeHead(200).end();
    return;
  }
  const facts = {
    'outrider.protocol': 'osmand',
    'outrider.terminal.id': terminalId,
    'outrider.positions': positions.length,
    'client.address': address,
  };
  const span = tracing.isOn ? tracing.beginPacket(trace, 'packet', { kind: 'server', startMs, facts }) : NO_SPAN;
  span.child('decode', startMs).end();
  const append = span.child('append');
  const done = () => {
    append.end();
    context.metrics.acknowledged.inc(1);
    response.writeHead(200).end();
    span.end();
  };
  const isContested = vehicle !== undefined && context.noteRequest(terminalId, address);
  const taking = isContested ? withConflict(positions) : positions;
  if (!context.intake.take('osmand', terminalId, taking, receivedAtMs, trace, done)) {
    context.onUnknown(terminalId, address);
    return refuse(404, 'unknown-terminal', `no vehicle has terminal ${JSON.stringify(terminalId)}`);
  }
  identified();
  if (vehicle !== undefined) context.contacts.note(vehicle, 'osmand', null, receivedAtMs);
  context.onTaken(terminalId, address);
  context.metrics.packets.inc(1);
  context.metrics.positions.inc(positions.length);
}

function refusalOf(
  vehicle: Vehicle,
  { socket, headers }: IncomingMessage,
  address: string,
  token: string | null,
  { contacts }: HttpContext,
): AccessRefusal | null {
  if (contacts.isTaken(vehicle, 'osmand')) return 'wrong-protocol';
  const [, bearer = null] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return accessRefusal(vehicle.terminalAccess, {
    protocol: 'osmand',
    address,
    certificateSha256: socket instanceof TLSSocket ? certificateOf(socket) : null,
    secret: bearer ?? token,
    showedCode: false,
  });
}

/** The whole body, or null where it is longer than the bound. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
