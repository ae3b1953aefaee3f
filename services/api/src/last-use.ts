import type { SessionId } from '@outrider/domain';

/** A JWT's last use is noted when it is refreshed; a cookie is never, so its use is, this often. */
const NOTE_EVERY_MS = 300_000;
const MAX_REMEMBERED = 10_000;

/** When the use of a cookie's session was last noted, so that not every call writes. */
export class LastUse {
  /** In the order of the noting. */
  readonly #notedAtMs = new Map<SessionId, number>();

  /** True when it is time to note the use of a session: that is then taken as done. */
  isDue(sessionId: SessionId, nowMs: number): boolean {
    const noted = this.#notedAtMs.get(sessionId);
    if (noted !== undefined && nowMs - noted < NOTE_EVERY_MS) return false;
    this.#notedAtMs.delete(sessionId);
    for (const oldest of this.#notedAtMs.keys()) {
      if (this.#notedAtMs.size < MAX_REMEMBERED) break;
      this.#notedAtMs.delete(oldest);
    }
    this.#notedAtMs.set(sessionId, nowMs);
    return true;
  }
}
