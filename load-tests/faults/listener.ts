import { WebSocket } from 'ws';
import { holdAgainstLiveDocument } from '../../services/outrider/src/described-message.fixture.ts';
import type { Access } from './access.ts';

const COME_BACK_AFTER_MS = 300;
/** Interval of pings; without an answer, the client closes the connection. */
const ASK_EVERY_MS = 1000;
const SILENT_AFTER_MS = 4000;

export type LiveMessage = Record<string, unknown> & { type: string };

/**
 * A client of the live API as one is to be written: with its last cursor it comes back whenever its connection ends or
 * is silent.
 */
export class Listener {
  /** Without corrections. */
  readonly events: LiveMessage[] = [];
  readonly notifications: LiveMessage[] = [];
  /** What must not come: gaps, and messages that are not as described. */
  readonly wrong: string[] = [];
  connections = 0;
  readonly #port: number;
  readonly #access: Access;
  #cursor: string | null = null;
  #socket: WebSocket | null = null;
  #resumed = false;
  #closed = false;
  #lastlyMet = 'nothing yet';

  constructor(port: number, access: Access) {
    this.#port = port;
    this.#access = access;
    void this.#live();
  }

  /** Whether nothing is missed any more. */
  get resumed(): boolean {
    return this.#resumed;
  }

  /** What its connection came to at last: why it is not connected, where it is not. */
  get lastlyMet(): string {
    return `${this.#lastlyMet}, after ${this.connections} connections`;
  }

  /** As a network does it: without a word. */
  hangUp(): void {
    this.#socket?.terminate();
  }

  close(): void {
    this.#closed = true;
    this.hangUp();
  }

  async #live(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#connection(await this.#access.token());
      } catch (error) {
        // No answer, or refused: it tries again.
        this.#lastlyMet = (error as Error).message;
      }
      // A token signed by a wrong clock may be invalid: it logs in again if the connection was refused.
      if (!this.#resumed) this.#access.forget();
      this.#resumed = false;
      await new Promise((resolve) => setTimeout(resolve, COME_BACK_AFTER_MS));
    }
  }

  #connection(jwt: string): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/live`, {
      headers: { Authorization: `JWT ${jwt}` },
      handshakeTimeout: SILENT_AFTER_MS,
    });
    this.#socket = socket;
    let receivedAtMs = performance.now();
    const ask = setInterval(() => {
      if (performance.now() - receivedAtMs > SILENT_AFTER_MS) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) socket.ping();
    }, ASK_EVERY_MS);
    socket.on('pong', () => {
      receivedAtMs = performance.now();
    });
    socket.on('open', () => {
      this.connections++;
      this.#lastlyMet = 'asked to go on, and was not answered';
      const since = this.#cursor === null ? {} : { since: this.#cursor };
      socket.send(JSON.stringify({ type: 'subscribe', all: true, positions: false, ...since }));
    });
    socket.on('message', (data) => this.#receive(JSON.parse(data.toString()) as LiveMessage));
    // Event `close` follows every error.
    socket.on('error', ({ message }) => {
      this.#lastlyMet = message;
    });
    return new Promise((resolve) =>
      socket.once('close', (code, reason) => {
        clearInterval(ask);
        if (this.#resumed) this.#lastlyMet = `closed with ${code} ${reason}`;
        resolve();
      }),
    );
  }

  #receive(message: LiveMessage): void {
    try {
      holdAgainstLiveDocument(message);
    } catch (error) {
      this.wrong.push((error as Error).message);
    }
    if (typeof message.cursor === 'string') this.#cursor = message.cursor;
    if (message.type === 'event' && message.origin === 'live') this.events.push(message);
    else if (message.type === 'notification') this.notifications.push(message);
    else if (message.type === 'gap') this.wrong.push(`a gap: ${JSON.stringify(message)}`);
    else if (message.type === 'resumed') this.#resumed = true;
  }
}
