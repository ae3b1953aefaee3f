/** Limit per terminal. A terminal with more unread bytes of answers is unavailable or malicious. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Limit for all terminals together. Beyond it, terminals that read nothing are disconnected. */
const MAX_UNREAD_IN_ALL_BYTES = 32 * 1024 * 1024;
/** Always allowed per terminal: on a slow network one or two answers are unread for a moment. */
const ALWAYS_ALLOWED_BYTES = 4096;

/** Sum of the unread bytes of answers, to which each connection contributes. */
export class UnreadAnswers {
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param before unread bytes of the connection at its last call
   * @returns whether the connection may stay open
   */
  note(before: number, now: number): boolean {
    this.#bytes += now - before;
    if (now > MAX_UNREAD_BYTES) return false;
    return this.#bytes <= MAX_UNREAD_IN_ALL_BYTES || now <= ALWAYS_ALLOWED_BYTES;
  }
}
