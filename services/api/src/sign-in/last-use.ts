import type { ApiKeyId, SessionId } from '@outrider/domain';

/**
 * Interval at which the use of a cookie session or an API key is recorded. For a JWT session, each refresh records it.
 */
const NOTE_EVERY_MS = 300_000;
const MAX_REMEMBERED = 10_000;

/** Remembers what was recorded of the use of sessions and API keys, so that not every call writes. */
export class LastUse {
  /** In the order of recording. */
  readonly #notedAtMs = new Map<SessionId | ApiKeyId, number>();
  /** The newest token of each session that was used. */
  readonly #tokens = new Map<SessionId, number>();

  /** Whether the use of a session or key must be recorded now. If so, it counts as recorded. */
  isDue(id: SessionId | ApiKeyId, nowMs: number): boolean {
    const noted = this.#notedAtMs.get(id);
    if (noted !== undefined && nowMs - noted < NOTE_EVERY_MS) return false;
    remember(this.#notedAtMs, id, nowMs);
    return true;
  }

  /** Whether this is the first use of a session's token from a refresh, which then replaces the earlier tokens. */
  isNewToken(id: SessionId, generation: number): boolean {
    if (generation <= (this.#tokens.get(id) ?? 0)) return false;
    remember(this.#tokens, id, generation);
    return true;
  }
}

/** Stores a value; drops those stored longest ago. */
function remember<Id>(noted: Map<Id, number>, id: Id, value: number): void {
  noted.delete(id);
  for (const oldest of noted.keys()) {
    if (noted.size < MAX_REMEMBERED) break;
    noted.delete(oldest);
  }
  noted.set(id, value);
}
