/** A terminal that leaves this many bytes of answers unread is gone, or hostile. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Unread bytes of all terminals together; beyond it, terminals that read nothing are disconnected. */
const MAX_UNREAD_IN_ALL_BYTES = 32 * 1024 * 1024;
/** An answer or two wait for a moment on any slow network. */
const ALWAYS_ALLOWED_BYTES = 4096;

/** Bytes of answers that terminals have not read yet, in sum: each connection notes its own. */
export class UnreadAnswers {
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param before what the connection had unread when it last noted it
   * @returns whether the connection may go on
   */
  note(before: number, now: number): boolean {
    this.#bytes += now - before;
    if (now > MAX_UNREAD_BYTES) return false;
    return this.#bytes <= MAX_UNREAD_IN_ALL_BYTES || now <= ALWAYS_ALLOWED_BYTES;
  }
}
