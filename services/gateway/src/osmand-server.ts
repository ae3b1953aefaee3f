import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { TerminalId } from '@outrider/domain';
import { decodeOsmand } from '@outrider/protocols';
import type { Intake } from './intake.ts';
import type { ProtocolMetrics } from './metrics.ts';

const MAX_BODY_BYTES = 64 * 1024;

/** What the HTTP side needs from the gateway around it. */
export interface HttpSurroundings {
  intake: Intake;
  metrics: ProtocolMetrics;
  now(): number;
  /** True while the log can't take more: requests are turned away rather than queued. */
  isHeld(): boolean;
  onUnknown(terminalId: TerminalId, address: string): void;
  onRefused(reason: string, detail: string, address: string): void;
}

/** Phones by HTTP: one request, one answer, 200 only once the position is durable. */
export function createOsmandServer(around: HttpSurroundings): Server {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000 });
  server.on('connection', (socket) => {
    around.metrics.connections.inc();
    socket.once('close', () => around.metrics.connections.dec());
  });
  server.on('request', (request, response) => {
    answer(request, response, around).catch((error: Error) => {
      // The peer went away in the middle of its request; there is nobody left to answer.
      around.onRefused('bad-frame', error.message, request.socket.remoteAddress ?? 'unknown');
      response.destroy();
    });
  });
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, around: HttpSurroundings): Promise<void> {
  const address = request.socket.remoteAddress ?? 'unknown';
  const refuse = (status: number, reason: string, detail: string) => {
    around.onRefused(reason, detail, address);
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${detail}\n`);
  };

  if (around.isHeld()) {
    response.setHeader('Retry-After', '5');
    return refuse(503, 'held', 'nothing can be stored now; send it again');
  }
  const body = await readBody(request);
  if (body === null) {
    response.setHeader('Connection', 'close');
    return refuse(413, 'bad-length', `the body is longer than ${MAX_BODY_BYTES} bytes`);
  }
  const receivedAtMs = around.now();
  const decoded = decodeOsmand({
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    contentType: request.headers['content-type'] ?? null,
    body,
    nowMs: receivedAtMs,
  });
  if ('refused' in decoded) return refuse(decoded.status, decoded.refused, decoded.detail);

  const { terminalId, positions } = decoded;
  const done = () => {
    around.metrics.acknowledged.inc(1);
    response.writeHead(200).end();
  };
  if (positions.length === 0) return done();
  if (!around.intake.take('osmand', terminalId, positions, receivedAtMs, done)) {
    around.onUnknown(terminalId, address);
    return refuse(404, 'unknown-terminal', `no vehicle has terminal ${JSON.stringify(terminalId)}`);
  }
  around.metrics.packets.inc(1);
  around.metrics.positions.inc(positions.length);
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
