import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Problem } from '@outrider/access';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { endWith } from '@outrider/runtime';
import type { Api } from '../api.ts';

/** Largest header section that Node's parser accepts. */
const MAX_REQUEST_BYTES = 16 * 1024;
/** The same time limit as for the headers of any other request. */
const WHOLE_WITHIN_MS = 10_000;
const END_OF_HEAD = '\r\n\r\n';
/** The path may be followed by a query, which the API validates. */
const REQUEST_LINE = /^POST (\/auth\/refresh(?:\?[\x21\x22\x24-\x7e]*)?) HTTP\/1\.1$/;
const START = 'POST /auth/refresh';
/** Field name and value as defined in RFC 9112, section 5. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;
/** The one line that no parser accepts: the header name with the space that the specification gives it. */
const LITERAL_FIELD = /^authorization refresh:[ \t]*([\x20-\x7e]*)$/i;

/** Result of reading the bytes that Node's parser refused. */
export type LiteralRefresh = Request | 'incomplete' | 'refused';

/**
 * Reads `POST /auth/refresh` with the header `Authorization refresh`, and nothing else. The whole of `raw` must be this
 * one request, so that nothing can be smuggled behind it. Every line is checked against the grammar. A second spelling
 * of the token, a transfer coding, a second length, or a byte beyond the body is refused.
 *
 * @returns the request, its token under the canonical name; `incomplete` if more may come
 */
export function readLiteralRefresh(raw: Buffer): LiteralRefresh {
  if (raw.length > MAX_REQUEST_BYTES) return 'refused';
  const text = raw.toString('latin1');
  if (!text.startsWith(START.slice(0, text.length))) return 'refused';
  const endOfHead = text.indexOf(END_OF_HEAD);
  if (endOfHead < 0) return 'incomplete';
  const [requestLine = '', ...lines] = text.slice(0, endOfHead).split('\r\n');
  const [, target] = REQUEST_LINE.exec(requestLine) ?? [];
  if (target === undefined) return 'refused';

  const headers = new Headers();
  let literals = 0;
  for (const line of lines) {
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
  const url = `http://${host}${target}`;
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
  // This call ignores its body.
  headers.delete('content-length');
  return new Request(url, { method: 'POST', headers });
}

/** What a connection has received of its current request. */
interface Incoming {
  /**
   * Everything since the end of the last request; null from the time a request was handed out of it until that is
   * finished.
   */
  raw: Buffer | null;
  /** Bytes of the current request's body that are still to come; NaN if unknown. */
  owed: number;
  giveUp: Timer | undefined;
}

/** A header section of the largest size, and as much as Node reads at once. */
const MAX_HELD_BYTES = MAX_REQUEST_BYTES + 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Handles requests that Node's parser refuses. The literal spelling of the refresh passes through the API like any
 * other call, with its limits and addresses. Anything else gets problem+json with 400 (431 for headers that are too
 * large, 408 for headers that did not arrive in time). The connection is closed after either.
 */
export function answerClientErrors(server: Server, api: Pick<Api, 'fetch'>): void {
  const incoming = new WeakMap<Duplex, Incoming>();

  // The parser reports only the packet in which it met the space, so the packets before it are kept here.
  server.on('connection', (socket: Socket & { parser?: unknown }) => {
    const state: Incoming = { raw: NOTHING, owed: 0, giveUp: undefined };
    incoming.set(socket, state);
    const keep = (packet: Buffer) => {
      // After an upgrade no more requests follow.
      if (!socket.parser) return void socket.off('data', keep);
      if (state.raw === null) state.owed = state.owed < packet.length ? Number.NaN : state.owed - packet.length;
      else if (state.raw.length + packet.length > MAX_HELD_BYTES) [state.raw, state.owed] = [null, Number.NaN];
      else state.raw = state.raw.length === 0 ? packet : Buffer.concat([state.raw, packet]);
    };
    // Before the parser, which reports requests and errors while it reads a packet.
    socket.prependListener('data', keep);
    socket.once('close', () => state.giveUp?.cancel());
  });

  /*
   * Only bytes that begin exactly where a request ended begin a new one: neither the rest of a body nor half-read
   * headers can pass for a request. Therefore the bytes of each request are counted. If that is impossible, no further
   * literal refresh is accepted on the connection.
   */
  server.on('request', (request, response) => {
    const state = incoming.get(request.socket);
    if (!state) return;
    const { headers } = request;
    const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.NaN;
    const endOfHead = state.raw?.indexOf(END_OF_HEAD) ?? -1;
    const isKnown = state.raw !== null && endOfHead >= 0;
    const owed = isKnown ? endOfHead + END_OF_HEAD.length + length - (state.raw?.length ?? 0) : Number.NaN;
    state.owed = owed < 0 ? Number.NaN : owed;
    state.raw = null;
    response.once('finish', () => {
      if (request.complete && state.owed === 0) state.raw = NOTHING;
    });
  });

  /** Connections that were sent their last response: everything that follows on them is ignored. */
  const over = new WeakSet<Duplex>();
  const refuse = (socket: Socket, response: Response) => {
    over.add(socket);
    if (!socket.writable) return void socket.destroy();
    void send(socket, response);
  };

  server.on('clientError', (error: NodeJS.ErrnoException, stream: Duplex) => {
    const socket = stream as Socket;
    if (over.has(socket)) return;
    const { code } = error;
    if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const state = incoming.get(socket);
    state?.giveUp?.cancel();
    if (code === 'HPE_HEADER_OVERFLOW') return refuse(socket, plainProblem(431, 'The headers are too large.'));
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
      return refuse(socket, plainProblem(408, 'The request is incomplete: the rest of it did not arrive in time.'));
    if (code !== 'HPE_INVALID_HEADER_TOKEN' || !state?.raw) return refuse(socket, noHttp());
    const request = readLiteralRefresh(state.raw);
    if (request === 'refused') return refuse(socket, noHttp());
    if (request === 'incomplete') {
      // Once the parser has refused a byte, it refuses everything that follows.
      state.giveUp = SYSTEM_CLOCK.after(WHOLE_WITHIN_MS, () =>
        refuse(socket, plainProblem(408, 'The request is incomplete: the rest of it did not arrive in time.')),
      );
      return;
    }
    over.add(socket);
    void answer(socket, request, api);
  });
}

function noHttp(): Response {
  return new Problem('invalid-request', 'The request is not valid HTTP.').toResponse();
}

/** A problem with nothing but its status and a detail. */
function plainProblem(status: 408 | 431, detail: string): Response {
  const body = { type: 'about:blank', title: STATUS_CODES[status], status, detail };
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' };
  return new Response(JSON.stringify(body), { status, headers });
}

async function answer(socket: Socket, request: Request, api: Pick<Api, 'fetch'>): Promise<void> {
  await send(socket, await api.fetch(request, { incoming: { socket } as never }));
}

/** Writes the last response of a connection. */
async function send(socket: Socket, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const fields = [...response.headers, ['content-length', body.length], ['connection', 'close']];
  const head = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  endWith(socket, Buffer.concat([Buffer.from(`${head.join('\r\n')}${END_OF_HEAD}`, 'latin1'), body]));
}
