import type { ApiKeyId, SessionId } from '@outrider/domain';

/** A JWT's last use is noted when it is refreshed; cookies and API keys never are, so their use is, this often. */
const NOTE_EVERY_MS = 300_000;
const MAX_REMEMBERED = 10_000;

/** When the use of a cookie's session or of an API key was last noted, so that not every call writes. */
export class LastUse {
  /** In the order of the noting. */
  readonly #notedAtMs = new Map<SessionId | ApiKeyId, number>();

  /** True when it is time to note the use of a session or key: that is then taken as done. */
  isDue(id: SessionId | ApiKeyId, nowMs: number): boolean {
    const noted = this.#notedAtMs.get(id);
    if (noted !== undefined && nowMs - noted < NOTE_EVERY_MS) return false;
    this.#notedAtMs.delete(id);
    for (const oldest of this.#notedAtMs.keys()) {
      if (this.#notedAtMs.size < MAX_REMEMBERED) break;
      this.#notedAtMs.delete(oldest);
    }
    this.#notedAtMs.set(id, nowMs);
    return true;
  }
}
