import type { Shared } from '@outrider/client';
import { signal } from '@preact/signals';

const MOVING_MS = 3000;
const PARKED_MS = 10_000;
/** A past track does not change, but its link may end. */
const TRACK_MS = 60_000;
const FAILED_MS = 10_000;

export type Trouble = 'connection' | 'too-many';

/** Pause before the next poll: roughly the time for which the shared data does not change. */
export function pauseMs(shared: Shared): number {
  if (shared.track !== null) return TRACK_MS;
  return shared.vehicles.some(({ state }) => state === 'moving') ? MOVING_MS : PARKED_MS;
}

/** Data of a share link, polled while the page is visible. */
export class SharedView {
  /** Null: not known yet. */
  readonly shared = signal<Shared | null>(null);
  /** The link is no longer valid: it expired, was revoked, or is unknown. */
  readonly hasEnded = signal(false);
  readonly trouble = signal<Trouble | null>(null);
  readonly #path: string;
  #etag: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param path path of the page: `/s/{token}` */
  constructor(path: string) {
    this.#path = path.replace(/\/$/, '');
  }

  start(): void {
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#timer);
      if (!document.hidden) void this.#follow();
    });
    void this.#follow();
  }

  async #follow(): Promise<void> {
    clearTimeout(this.#timer);
    const waitMs = await this.read();
    clearTimeout(this.#timer);
    if (waitMs !== null && !document.hidden) this.#timer = setTimeout(() => void this.#follow(), waitMs);
  }

  /** @returns milliseconds until the next call; null: the link has ended */
  async read(): Promise<number | null> {
    try {
      const answer = await fetch(`${this.#path}/data`, {
        cache: 'no-store',
        credentials: 'omit',
        headers: this.#etag === null ? {} : { 'if-none-match': this.#etag },
      });
      if (answer.status === 400 || answer.status === 404) {
        this.hasEnded.value = true;
        this.shared.value = null;
        return null;
      }
      if (answer.status === 429) {
        this.trouble.value = 'too-many';
        return Number(answer.headers.get('retry-after') ?? 60) * 1000;
      }
      if (answer.ok) {
        this.#etag = answer.headers.get('etag');
        this.shared.value = (await answer.json()) as Shared;
      } else if (answer.status !== 304) throw new Error(`answered ${answer.status}`);
      this.trouble.value = null;
      const shown = this.shared.peek();
      return shown === null ? FAILED_MS : pauseMs(shown);
    } catch {
      this.trouble.value = 'connection';
      return FAILED_MS;
    }
  }
}
