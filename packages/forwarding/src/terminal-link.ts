import type { Socket } from 'node:net';
import type { ConnectGuarded } from '@outrider/channels';
import { CONNECT_TIMEOUT_MS, ForwardingError, within } from './destination-kind.ts';
import type { HostSettings } from './host-settings.ts';

/** One side of a protocol: its first message, and its decoding of received bytes. */
export interface Speaker<Reply> {
  hello(): Buffer | null;
  receive(chunk: Buffer): Reply[];
}

/** A connection that waits for replies, in their order. */
export class TerminalLink<Reply> {
  readonly #socket: Socket;
  readonly #replies: Reply[] = [];
  #wake: (() => void) | null = null;
  #failure: ForwardingError | null = null;

  constructor(connect: ConnectGuarded, to: HostSettings, speaker: Speaker<Reply>) {
    this.#socket = connect(to);
    this.#socket.on('data', (chunk: Buffer) => {
      this.#replies.push(...speaker.receive(chunk));
      this.#wake?.();
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(`The connection failed (${error.code ?? error.message}).`),
    );
    this.#socket.on('close', () => this.#fail('The connection was closed by the receiving system.'));
    const hello = speaker.hello();
    if (hello !== null) this.write(hello);
  }

  get isOpen(): boolean {
    return this.#failure === null;
  }

  write(bytes: Buffer): void {
    if (this.#failure === null) this.#socket.write(bytes);
  }

  /** @throws {ForwardingError} when the connection ended, or nothing came in time */
  next(): Promise<Reply> {
    return within(CONNECT_TIMEOUT_MS, this.#next(), 'The receiving system did not answer');
  }

  close(): void {
    this.#fail('The connection was closed.');
    this.#socket.destroy();
  }

  async #next(): Promise<Reply> {
    for (;;) {
      const reply = this.#replies.shift();
      if (reply !== undefined) return reply;
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #fail(reason: string): void {
    this.#failure ??= new ForwardingError(reason);
    this.#wake?.();
  }
}
