import type { ApiKeyId, SessionId } from '@outrider/domain';

/** The session of a JWT is noted as used with each refresh; that of a cookie, and an API key, this often. */
const NOTE_EVERY_MS = 300_000;
const MAX_REMEMBERED = 10_000;

/** What was noted of the use of sessions and API keys, so that not every call writes. */
export class LastUse {
  /** In the order of the noting. */
  readonly #notedAtMs = new Map<SessionId | ApiKeyId, number>();
  /** The newest token of a session that was used. */
  readonly #tokens = new Map<SessionId, number>();

  /** True when it is time to note the use of a session or key: that is then taken as done. */
  isDue(id: SessionId | ApiKeyId, nowMs: number): boolean {
    const noted = this.#notedAtMs.get(id);
    if (noted !== undefined && nowMs - noted < NOTE_EVERY_MS) return false;
    remember(this.#notedAtMs, id, nowMs);
    return true;
  }

  /** True with the first use of a session's token from a refresh: those before it are replaced then. */
  isNewToken(id: SessionId, generation: number): boolean {
    if (generation <= (this.#tokens.get(id) ?? 0)) return false;
    remember(this.#tokens, id, generation);
    return true;
  }
}

/** Forgets what was noted longest ago. */
function remember<Id>(noted: Map<Id, number>, id: Id, value: number): void {
  noted.delete(id);
  for (const oldest of noted.keys()) {
    if (noted.size < MAX_REMEMBERED) break;
    noted.delete(oldest);
  }
  noted.set(id, value);
}
