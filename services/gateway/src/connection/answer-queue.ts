import type { Socket } from 'node:net';
import type { UnreadAnswers } from './unread-answers.ts';

/** An answer in the queue. */
export interface Answer {
  /** Null: the packet has no answer, but keeps its position in the queue. */
  bytes: Buffer | null;
  /** Whether the answer may be sent, because the packet that it acknowledges is durable. */
  ready: boolean;
}

export interface AnswerEvents {
  /** The terminal has too many unread bytes and must be disconnected. */
  onUnread(): void;
  /**
   * Packets became durable. {@link AnswerQueue.sendReady} then sends their answers, unless an earlier one is pending.
   */
  onAcknowledged(packets: number): void;
}

/** Queue of answers to a terminal, sent in the order of its packets. */
export class AnswerQueue {
  readonly #socket: Socket;
  readonly #unread: UnreadAnswers;
  readonly #events: AnswerEvents;
  readonly #answers: Answer[] = [];
  /** Unread bytes as last recorded in `UnreadAnswers`. */
  #unreadBytes = 0;
  /** Packets acknowledged since the last call of `onAcknowledged`. */
  #acknowledged = 0;

  constructor(socket: Socket, unread: UnreadAnswers, events: AnswerEvents) {
    this.#socket = socket;
    this.#unread = unread;
    this.#events = events;
    socket.on('drain', () => this.#mayGoOn());
  }

  /** Number of answers that have not been sent. */
  get size(): number {
    return this.#answers.length;
  }

  add(answer: Answer): void {
    this.#answers.push(answer);
  }

  /** Marks an answer as ready. Packets that become durable at the same time are reported together. */
  acknowledge(answer: Answer): void {
    answer.ready = true;
    this.#acknowledged++;
    if (this.#acknowledged > 1) return;
    queueMicrotask(() => {
      const packets = this.#acknowledged;
      this.#acknowledged = 0;
      this.#events.onAcknowledged(packets);
    });
  }

  /** Sends the ready answers at the head of the queue in one write. */
  sendReady(): void {
    const answers = this.#answers;
    let ready = 0;
    while (ready < answers.length && answers[ready]?.ready) ready++;
    const bytes = answers
      .splice(0, ready)
      .map((answer) => answer.bytes)
      .filter((each) => each !== null);
    const [first] = bytes;
    if (first !== undefined && this.#socket.writable) this.send(bytes.length === 1 ? first : Buffer.concat(bytes));
  }

  /** Sends bytes at once, bypassing the queue. */
  send(bytes: Buffer): void {
    this.#socket.write(bytes);
    if (!this.#mayGoOn()) this.#events.onUnread();
  }

  /** To be called when the connection has ended. */
  close(): void {
    this.#unread.note(this.#unreadBytes, 0);
    this.#unreadBytes = 0;
  }

  #mayGoOn(): boolean {
    const bytes = this.#socket.writableLength;
    // The usual case: the operating system has accepted everything.
    if (bytes === 0 && this.#unreadBytes === 0) return true;
    const before = this.#unreadBytes;
    this.#unreadBytes = bytes;
    return this.#unread.note(before, bytes);
  }
}
