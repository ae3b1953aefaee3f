import type { Socket } from 'node:net';
import type { UnreadAnswers } from './unread-answers.ts';

/** An answer in its place of the queue. */
export interface Answer {
  /** Null: what was asked has none, and only keeps its place. */
  bytes: Buffer | null;
  /** Whether it may be sent: what it acknowledges is durable. */
  ready: boolean;
}

export interface AnswerEvents {
  /** The terminal leaves more unread than it may: it is to be disconnected. */
  onUnread(): void;
  /** Packets became durable: {@link AnswerQueue.sendReady} sends their answers, unless an earlier packet has yet to. */
  onAcknowledged(packets: number): void;
}

/** The answers to a terminal, which are sent in the order in which it asked. */
export class AnswerQueue {
  readonly #socket: Socket;
  readonly #unread: UnreadAnswers;
  readonly #events: AnswerEvents;
  readonly #answers: Answer[] = [];
  /** Bytes that are noted as unread. */
  #unreadBytes = 0;
  /** Acknowledged since the last call of `onAcknowledged`. */
  #acknowledged = 0;

  constructor(socket: Socket, unread: UnreadAnswers, events: AnswerEvents) {
    this.#socket = socket;
    this.#unread = unread;
    this.#events = events;
    socket.on('drain', () => this.#mayGoOn());
  }

  /** Answers that were not sent. */
  get size(): number {
    return this.#answers.length;
  }

  add(answer: Answer): void {
    this.#answers.push(answer);
  }

  /** An answer may be sent, with those of other packets that became durable now. */
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

  /** Sends every answer whose turn has come, as one write. */
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

  /** Sends what is no answer at once. */
  send(bytes: Buffer): void {
    this.#socket.write(bytes);
    if (!this.#mayGoOn()) this.#events.onUnread();
  }

  /** The connection is over. */
  close(): void {
    this.#unread.note(this.#unreadBytes, 0);
    this.#unreadBytes = 0;
  }

  #mayGoOn(): boolean {
    const bytes = this.#socket.writableLength;
    // The system accepts most answers at once.
    if (bytes === 0 && this.#unreadBytes === 0) return true;
    const before = this.#unreadBytes;
    this.#unreadBytes = bytes;
    return this.#unread.note(before, bytes);
  }
}
