import type { Random } from '@outrider/simulator';
import { WebSocket } from 'ws';
import { holdAgainstLiveDocument } from './described-message.fixture.ts';
import type { LiveMessage } from './service.fixture.ts';

/** Neither have nor concern a cursor. */
const NEITHER: ReadonlySet<unknown> = new Set(['position', 'snapshot', 'heartbeat']);

/**
 * A client of the live API as the documentation recommends: after each disconnect it reconnects with its last cursor.
 */
export class ReconnectingClient {
  /** Everything that has or concerns a cursor: events, notifications, gaps. */
  readonly received: LiveMessage[] = [];
  /** Errors about messages that the document of the live API does not describe. */
  readonly undescribed: string[] = [];
  connections = 0;
  readonly #port: number;
  readonly #jwt: string;
  readonly #random: Random;
  #socket: WebSocket | null = null;
  #cursor: string | null = null;
  #resumed: LiveMessage | null = null;
  #again: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(port: number, jwt: string, random: Random) {
    this.#port = port;
    this.#jwt = jwt;
    this.#random = random;
    this.#connect();
  }

  /** The `resumed` of the present connection; null before it came. */
  get resumed(): LiveMessage | null {
    return this.#resumed;
  }

  of(type: string): LiveMessage[] {
    return this.received.filter((message) => message.type === type);
  }

  /** Drops the connection without a close frame, like a network failure. */
  hangUp(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#closed = true;
    if (this.#again) clearTimeout(this.#again);
    this.hangUp();
  }

  #connect(): void {
    const headers = { Authorization: `JWT ${this.#jwt}` };
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/live`, { headers });
    this.#socket = socket;
    socket.on('open', () => {
      this.connections++;
      const since = this.#cursor === null ? {} : { since: this.#cursor };
      socket.send(JSON.stringify({ type: 'subscribe', all: true, ...since }));
    });
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as LiveMessage;
      try {
        holdAgainstLiveDocument(message);
      } catch (error) {
        this.undescribed.push((error as Error).message);
      }
      if (typeof message.cursor === 'string') this.#cursor = message.cursor;
      if (message.type === 'resumed') this.#resumed = message;
      else if (!NEITHER.has(message.type)) this.received.push(message);
    });
    // Event `close` follows every error.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#resumed = null;
      if (!this.#closed) this.#again = setTimeout(() => this.#connect(), this.#random.between(10, 150));
    });
  }
}
