import type { TerminalId } from '@outrider/domain';
import type { Hub } from '@outrider/hub';

const WINDOW_MS = 60_000;
/** Maximum of remembered pairs of an address and a terminal; each takes some 100 bytes. */
const MAX_PAIRS = 50_000;
const MAX_BLOCKED = 10_000;

/**
 * Limits the unknown ids that one address may try: ids of terminals are consecutive numbers, and each answer reveals
 * whether a vehicle has the id. The count is shared by all gateways. An id counts once per address, however often it is
 * repeated: a fleet behind one address that waits for its vehicle profiles uses up its budget once rather than every
 * minute.
 *
 * An address over its budget gets no answers until the minute is over, except for terminals that were admitted from it
 * before.
 */
export class UnknownBudget {
  readonly #hub: Pick<Hub, 'hit'>;
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  readonly #onBlocked: (source: string) => void;
  readonly #blocked = new Map<string, number>();
  readonly #tried = new RecentPairs();
  readonly #letIn = new RecentPairs();

  constructor(parts: {
    hub: Pick<Hub, 'hit'>;
    perMinute: number;
    now(): number;
    onError(error: unknown): void;
    onBlocked(source: string): void;
  }) {
    this.#hub = parts.hub;
    this.#perMinute = parts.perMinute;
    this.#now = parts.now;
    this.#onError = parts.onError;
    this.#onBlocked = parts.onBlocked;
  }

  /** @param source null: never blocked */
  isBlocked(source: string | null, terminalId: TerminalId): boolean {
    if (source === null || this.#blocked.size === 0) return false;
    const untilMs = this.#blocked.get(source);
    if (untilMs === undefined) return false;
    if (untilMs > this.#now()) return !this.#letIn.has(source, terminalId);
    this.#blocked.delete(source);
    return false;
  }

  noteLetIn(source: string | null, terminalId: TerminalId): void {
    if (source !== null) this.#letIn.add(source, terminalId);
  }

  noteUnknown(source: string | null, terminalId: TerminalId): void {
    if (source === null || !this.#tried.add(source, terminalId)) return;
    this.#count(source);
  }

  /** Counts a wrong secret. Unlike an id, it counts each time. */
  noteWrongSecret(source: string | null): void {
    if (source !== null) this.#count(source);
  }

  #count(source: string): void {
    this.#hub
      .hit(`unknown-terminals:${source}`, WINDOW_MS, this.#now())
      .then(({ hits, resetsAtMs }) => {
        if (hits <= this.#perMinute) return;
        if (!this.#blocked.has(source)) this.#onBlocked(source);
        this.#blocked.set(source, resetsAtMs);
        if (this.#blocked.size > MAX_BLOCKED) forgetOldest(this.#blocked);
      })
      .catch(this.#onError);
  }
}

/** The most recent pairs of an address and a terminal. */
class RecentPairs {
  readonly #pairs = new Set<string>();

  has(source: string, terminalId: TerminalId): boolean {
    return this.#pairs.has(`${source} ${terminalId}`);
  }

  /** @returns false if the pair existed already */
  add(source: string, terminalId: TerminalId): boolean {
    const pair = `${source} ${terminalId}`;
    const isNew = !this.#pairs.has(pair);
    this.#pairs.delete(pair);
    this.#pairs.add(pair);
    if (this.#pairs.size > MAX_PAIRS) forgetOldest(this.#pairs);
    return isNew;
  }
}

function forgetOldest(entries: Map<string, number> | Set<string>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
