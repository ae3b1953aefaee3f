import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Api } from './api.ts';

/** The size of the largest header section that Node's parser takes. */
const MAX_REQUEST_BYTES = 16 * 1024;
/** As long as any other request has for its headers. */
const WHOLE_WITHIN_MS = 10_000;
const END_OF_HEAD = '\r\n\r\n';
const REQUEST_LINE = 'POST /auth/refresh HTTP/1.1';
/** Field name and value as RFC 9112, section 5 has them. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;
/** The one line that no parser takes: the header's name with the space that the specification gives it. */
const LITERAL_FIELD = /^authorization refresh:[ \t]*([\x20-\x7e]*)$/i;

/** What the bytes that Node's parser refused turn out to be. */
export type LiteralRefresh = Request | 'incomplete' | 'refused';

/**
 * Reads `POST /auth/refresh` with the header `Authorization refresh`, and nothing but that: the whole of `raw` must be
 * this one request, so that nothing can hide behind it. Every line is held against the grammar; a second spelling of
 * the token, a transfer coding, a second length, or a byte beyond the body is refused.
 *
 * @returns the request, its token under the canonical name; `incomplete` where more may come
 */
export function readLiteralRefresh(raw: Buffer): LiteralRefresh {
  if (raw.length > MAX_REQUEST_BYTES) return 'refused';
  const text = raw.toString('latin1');
  const start = `${REQUEST_LINE}\r\n`;
  if (!text.startsWith(start.slice(0, text.length))) return 'refused';
  const endOfHead = text.indexOf(END_OF_HEAD);
  if (endOfHead < 0) return 'incomplete';

  const headers = new Headers();
  let literals = 0;
  for (const line of text.slice(start.length, endOfHead).split('\r\n')) {
    const literal = LITERAL_FIELD.exec(line)?.[1];
    const [, name, value] = literal === undefined ? (FIELD.exec(line) ?? []) : [line, 'authorization-refresh', literal];
    if (name === undefined || value === undefined) return 'refused';
    const isSingle = /^(?:host|content-length|authorization|authorization-refresh)$/i.test(name);
    if (isSingle && headers.has(name)) return 'refused';
    if (literal !== undefined) literals += 1;
    headers.append(name, value.trim());
  }
  const length = headers.get('content-length') ?? '0';
  const host = headers.get('host') ?? '';
  const url = `http://${host}/auth/refresh`;
  if (
    literals !== 1 ||
    !/^[^\s/?#@]+$/.test(host) ||
    !URL.canParse(url) ||
    headers.has('authorization') ||
    headers.has('transfer-encoding') ||
    headers.has('upgrade') ||
    headers.has('expect') ||
    !/^\d{1,5}$/.test(length)
  )
    return 'refused';
  const excess = text.length - (endOfHead + END_OF_HEAD.length) - Number(length);
  if (excess !== 0) return excess < 0 ? 'incomplete' : 'refused';
  // The body means nothing to this call.
  headers.delete('content-length');
  return new Request(url, { method: 'POST', headers });
}

/** A request of which the end has not come yet. */
interface Waiting {
  /** All that came since the last request that was answered. */
  raw: Buffer;
  giveUp: NodeJS.Timeout;
}

/**
 * Answers what Node's parser refuses: the literal spelling of the refresh as any other call, through the API with its
 * limits and addresses; everything else with 400 (431 for headers that are too large, 408 for those that never came).
 * The connection is closed after either.
 */
export function answerClientErrors(server: Server, api: Pick<Api, 'fetch'>): void {
  /**
   * How many bytes had been read of a connection when its last request was over. Only bytes that begin exactly there
   * begin a request: neither the rest of a body nor of half-read headers can pass for one.
   */
  const readBefore = new WeakMap<Duplex, number>();
  const waiting = new WeakMap<Duplex, Waiting>();

  server.on('request', (request, response) => {
    const { socket } = request;
    response.once('finish', () => readBefore.set(socket, request.complete ? socket.bytesRead : Number.NaN));
  });

  /** Connections that were sent their last response: everything that follows on them is ignored. */
  const over = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, status: 400 | 408 | 431) => {
    over.add(socket);
    if (!socket.writable) return void socket.destroy();
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  };

  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, stream: Duplex) => {
    const socket = stream as Socket;
    if (over.has(socket)) return;
    const { code, rawPacket: packet } = error;
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const earlier = waiting.get(socket);
    clearTimeout(earlier?.giveUp);
    waiting.delete(socket);
    if (code === 'HPE_HEADER_OVERFLOW') return refuse(socket, 431);
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse(socket, 408);
    if (code !== 'HPE_INVALID_HEADER_TOKEN' || packet === undefined) return refuse(socket, 400);
    const isStart = socket.bytesRead - packet.length === (readBefore.get(socket) ?? 0);
    if (!earlier && !isStart) return refuse(socket, 400);

    // Once it has refused a byte, the parser hands over whatever comes next in the same way.
    const raw = earlier ? Buffer.concat([earlier.raw, packet]) : packet;
    const request = readLiteralRefresh(raw);
    if (request === 'refused') return refuse(socket, 400);
    if (request === 'incomplete') {
      const giveUp = setTimeout(() => refuse(socket, 408), WHOLE_WITHIN_MS);
      waiting.set(socket, { raw, giveUp });
      socket.once('close', () => clearTimeout(giveUp));
      return;
    }
    over.add(socket);
    void answer(socket, request, api);
  });
}

async function answer(socket: Socket, request: Request, api: Pick<Api, 'fetch'>): Promise<void> {
  const response = await api.fetch(request, { incoming: { socket } as never });
  const body = Buffer.from(await response.arrayBuffer());
  const fields = [...response.headers, ['content-length', body.length], ['connection', 'close']];
  const head = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}${END_OF_HEAD}`, 'latin1'), body]));
}
