import type { Position, TerminalId } from '@outrider/domain';
import { Gauge, type Logger, type Metrics } from '@outrider/runtime';

const WINDOW_MS = 60_000;
/**
 * Tolerance. Terminals get their time from satellites: if one is ahead by more, either its receiver is faulty or the
 * server's clock is slow.
 */
const AHEAD_MS = 60_000;
/** Minimum of terminals in a window for a verdict. */
const MIN_TERMINALS = 3;
/** Maximum of terminals counted in a window. */
const MAX_TERMINALS = 10_000;

/**
 * Compares the server's clock with those of the terminals. If most of their newest fixes are ahead by more than a
 * minute, the server's clock is slow and correct fixes may be rejected as being in the future.
 */
export class ClockWatch {
  readonly #logger: Logger;
  /** Terminals of the window, each with whether its newest fix is ahead. */
  readonly #isAhead = new Map<TerminalId, boolean>();
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #isSuspect = false;
  #aheadInLastWindow = 0;

  constructor(logger: Logger, registry: Metrics) {
    this.#logger = logger;
    const isSuspect = () => this.#isSuspect;
    new Gauge({
      name: 'outrider_server_clock_suspect',
      help: '1 if the clocks of most terminals are more than a minute ahead of the server clock, otherwise 0',
      registers: [registry],
      collect() {
        this.set(isSuspect() ? 1 : 0);
      },
    });
    const ahead = () => this.#aheadInLastWindow;
    new Gauge({
      name: 'outrider_terminals_ahead',
      help: 'Terminals whose newest fix in the last minute was more than a minute ahead of the server clock',
      registers: [registry],
      collect() {
        this.set(ahead());
      },
    });
  }

  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  /** Records the positions of a packet with the server's time of its reception. */
  note(terminalId: TerminalId, positions: readonly Position[], receivedAtMs: number): void {
    const elapsedMs = receivedAtMs - this.#windowStartMs;
    if (elapsedMs >= WINDOW_MS || elapsedMs < 0) this.#beginWindow(receivedAtMs);
    if (this.#isAhead.size >= MAX_TERMINALS && !this.#isAhead.has(terminalId)) return;
    let newestMs = Number.NEGATIVE_INFINITY;
    for (const { valid, fixTimeMs } of positions) if (valid && fixTimeMs > newestMs) newestMs = fixTimeMs;
    if (newestMs > Number.NEGATIVE_INFINITY) this.#isAhead.set(terminalId, newestMs > receivedAtMs + AHEAD_MS);
  }

  #beginWindow(startMs: number): void {
    const terminals = this.#isAhead.size;
    let ahead = 0;
    for (const isAhead of this.#isAhead.values()) if (isAhead) ahead++;
    this.#aheadInLastWindow = ahead;
    if (terminals >= MIN_TERMINALS) {
      const isSuspect = 2 * ahead > terminals;
      if (isSuspect && !this.#isSuspect)
        this.#logger.warn(
          { terminals, ahead, aheadMs: AHEAD_MS },
          'most terminals are ahead of the server clock: check it',
        );
      else if (!isSuspect && this.#isSuspect)
        this.#logger.info({ terminals, ahead }, 'server clock agrees with the terminals');
      this.#isSuspect = isSuspect;
    }
    this.#isAhead.clear();
    this.#windowStartMs = startMs;
  }
}
